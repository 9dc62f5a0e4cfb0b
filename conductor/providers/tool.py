"""Workers that are tools: the seam over ``conductor.local.tools``."""

from __future__ import annotations

from collections.abc import AsyncIterator

from conductor.local.tools import TIMEOUT_S, ToolError, run_tool
from conductor.providers.base import Call, Completion, Delta, Notice, WorkerError
from conductor_client.usage import Usage

NO_TOKENS = Usage(input_tokens=0, output_tokens=0)


class Tools:
    """The provider ``tool``: ``worker.model`` is the tool's name. Uses no tokens and costs nothing."""

    async def stream(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        """Runs the tool on what its step sees. Raises ``WorkerError`` when it has no answer."""
        worker = call.worker
        visible = [(each.label, each.instruction, each.output) for each in call.visible]
        try:
            result = await run_tool(
                worker.model,
                question=call.question,
                instruction=call.instruction,
                visible=visible,
                timeout_s=worker.timeout_s or TIMEOUT_S,
            )
        except ToolError as error:
            raise WorkerError(
                error.kind,
                f"Worker {worker.name}: {error.message}.",
                hint=error.hint,
                partial_text=error.printed,
                usage=NO_TOKENS,
                served_model=worker.model,
            ) from error
        notes = [f"Took this from {result.source}: {result.used}"]
        if result.is_cut:
            notes.append("The output was longer than 64 KB and is cut.")
        yield Delta("output", result.output)
        yield Completion(output=result.output, usage=NO_TOKENS, served_model=worker.model, notes=tuple(notes))

    async def close(self) -> None:
        """Nothing to free."""
