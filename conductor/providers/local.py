"""Workers that run on this machine: the seam over ``conductor.local.runtime``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from conductor.local.chat import NUMBER_SETTINGS, Finished, Loading, TokenChoice
from conductor.local.chat import Delta as LocalDelta
from conductor.local.engine_process import LocalModelError
from conductor.local.runtime import Runtime, process_runtime
from conductor.providers.base import Call, Completion, Delta, Notice, TokenLogprob, WorkerError
from conductor_client.usage import Usage

DEFAULT_MAX_OUTPUT_TOKENS = 1024
KNOWN_SETTINGS = NUMBER_SETTINGS | {"stop"}


class LocalModels:
    """The provider ``local``. Models are shared by the whole process and outlive this object."""

    def __init__(self, models_dir: Path, *, runtime: Runtime | None = None) -> None:
        """``runtime`` None = the process's own for ``models_dir``, opened on first use."""
        self._models_dir = models_dir
        self._runtime = runtime

    async def stream(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        """Runs one call; the model is loaded first when it is not in memory, which a notice tells."""
        worker = call.worker
        settings = {name: value for name, value in call.settings.items() if name in KNOWN_SETTINGS}
        left_out = sorted(name for name in call.settings if name not in KNOWN_SETTINGS)
        notes = (f"Left out {', '.join(left_out)}: local models have no such setting.",) if left_out else ()
        runtime = self._runtime or process_runtime(self._models_dir)
        events = runtime.generate(
            worker.model,
            [{"role": each.role, "content": each.content} for each in call.messages],
            settings={name: value for name, value in settings.items() if value is not None},
            max_output_tokens=call.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS,
            seed=call.seed,
            grammar=call.grammar,
            json_schema=call.json_schema,
            top_logprobs=call.top_logprobs,
            adapter=bool(worker.profile.get("adapter", False)),
        )
        pieces: list[str] = []
        try:
            async for event in events:
                match event:
                    case Loading():
                        yield Notice(f"loading {event.model}")
                    case LocalDelta():
                        pieces.append(event.text)
                        yield Delta("output", event.text)
                    case Finished():
                        yield _completion(event, notes)
        except LocalModelError as error:
            raise _as_worker_error(call, error, "".join(pieces)) from error
        finally:
            await events.aclose()  # type: ignore[attr-defined]  # an async generator, typed as its iterator

    async def close(self) -> None:
        """Nothing: the runtime ends with the process."""


def _completion(event: Finished, notes: tuple[str, ...]) -> Completion:
    return Completion(
        output=event.output,
        finish=event.finish,
        usage=Usage(
            input_tokens=event.usage.input_tokens,
            cached_input_tokens=event.usage.cached_input_tokens,
            output_tokens=event.usage.output_tokens,
        ),
        served_model=event.served_model,
        logprobs=tuple(map(_logprob, event.logprobs)),
        notes=notes,
    )


def _logprob(choice: TokenChoice) -> TokenLogprob:
    # A grammar may have picked a token that is not among the likeliest: then its odds are unknown, thus tiny.
    return TokenLogprob(choice.token, choice.logprobs.get(choice.token, float("-inf")), choice.logprobs)


def _as_worker_error(call: Call, error: LocalModelError, text: str) -> WorkerError:
    longest = _longest_part(call) if error.kind == "context_overflow" else ""
    return WorkerError(
        error.kind,
        f"Worker {call.worker.name}: {error.message}.",
        hint=longest or error.hint,
        retryable=error.retryable,
        partial_text=text,
    )


def _longest_part(call: Call) -> str:
    """What makes the input so long and what helps; empty for a call that did not come in parts."""
    if not call.question:
        return ""
    others = len(call.question) + len(call.instruction)
    others += sum(len(each.instruction) + len(each.output) for each in call.visible)
    parts = [
        (len(call.question), "the prompt", "Shorten the prompt"),
        (len(call.instruction), "the step's own instruction", "Shorten the instruction"),
        (
            sum(len(each.content) for each in call.messages) - others,
            "the conversation before the prompt",
            "Begin a new conversation",
        ),
        *(
            (
                len(each.output),
                f"the output of {each.label}",
                f"Let {each.label} write less, or let the step not see it",
            )
            for each in call.visible
        ),
    ]
    size, what, remedy = max(parts, key=lambda part: part[0])
    return f"{remedy}, or choose a worker that takes more: the longest part is {what}, {size:,} characters."
