"""One run with a card of every status: waiting, queued, silent, retried, ended in every way there is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from conductor_client import events as ev
from conductor_client.errors import StepError
from conductor_client.usage import Usage
from conductor_client.workflow import workflow_of

from .story import PROMPT, Story

BUSY = StepError(
    kind="rate_limited", message="HTTP 429: too many requests", hint="Wait a little.", retryable=True
)
REFUSED = StepError(kind="refused", message="The model refused to answer.", hint="Say it otherwise.")
BROKEN = StepError(kind="timeout", message="No word for 60 s.", hint="Choose another worker.", retryable=True)
ROWS: list[tuple[str, str, list[int]]] = [
    ("qwen-1.5b", "Done, with a cost.", []),
    ("qwen-0.5b", "Reused from an earlier run.", []),
    ("calculator", "Done, with nothing written.", []),
    ("qwen-1.5b", "Cut at its limit.", []),
    ("qwen-0.5b", "Failed after some words.", []),
    ("smollm2-135m", "Refused.", []),
    ("qwen-1.5b", "Skipped, since step 6 refused.", [5]),
    ("qwen-0.5b", "Stopped after some words.", []),
    ("smollm2-135m", "Stopped before its first word.", []),
    ("a-worker-with-a-rather-long-name-of-its-own", "In the queue of its worker.", []),
    ("qwen-1.5b", "Started, and silent so far.", []),
    ("qwen-0.5b", "Failed once, and tries again in a while.", []),
    ("smollm2-135m", "Done by the fallback, another worker than was asked for.", []),
    ("qwen-1.5b", "Waiting for what steps 11 and 12 write.", [10, 11]),
]


def statuses_story(start: datetime | None = None, *, has_ended: bool = False) -> Story:
    """Under way, or ended: then what had not ended was never run."""
    begun = start or datetime.now(UTC) - timedelta(seconds=8)
    story = Story(workflow_of(PROMPT, ROWS), "run_statuses", begun).begin(is_planned=False)
    story.start("s1").finish("s1", 1.2)
    origin = ev.ReusedFrom(
        run_id="run_demo", step_id="s2", duration_s=2.5, usage=Usage(input_tokens=150, output_tokens=40)
    )
    same: dict[str, Any] = {"messages": (), "visible": (), "withheld": ()}
    story.add(ev.StepReused, step_id="s2", worker="qwen-0.5b", output="212 - 67", reused_from=origin, **same)
    story.start("s3").finish("s3", 0.1, output="", usage=None, cost_usd=None)
    story.start("s4").finish("s4", 0.9, output="Given: 212 people leave Utrecht, 67 get", finish="length")
    ended: dict[str, Any] = {"attempt": 1}
    failed: dict[str, Any] = {"worker": "qwen-0.5b", "error": BROKEN, "partial_text": "212 - 67 +"}
    story.start("s5").add(ev.StepFailed, 0.4, step_id="s5", **failed, **ended)
    story.start("s6").add(
        ev.StepFailed, 0.2, step_id="s6", worker="smollm2-135m", error=REFUSED, partial_text="", **ended
    )
    story.add(ev.StepSkipped, step_id="s7", cause="s6", said="step 6 failed")
    story.start("s8").add(ev.StepCancelled, 0.3, step_id="s8", partial_text="A train needs a free", **ended)
    story.start("s9").add(ev.StepCancelled, 0.1, step_id="s9", **ended)
    story.add(ev.StepQueued, step_id="s10", worker=ROWS[9][0], **same, **ended)
    story.start("s11").start("s12")
    retry: dict[str, Any] = {"error": BUSY, "wait_s": 45.0, "next_worker": "qwen-0.5b"}
    story.add(ev.StepRetried, 0.2, step_id="s12", worker="qwen-0.5b", **retry, **ended)
    story.start("s13")
    story.events[-1] = story.events[-1].model_copy(update={"worker": "qwen-1.5b"})
    story.finish("s13", 0.8, output="Doors that close.")
    story.events[-1] = story.events[-1].model_copy(update={"worker": "qwen-1.5b"})
    return story.add(ev.RunCancelled, partial=True) if has_ended else story
