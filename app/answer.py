"""The final answer, on top of the graph: as safe Markdown or as the raw text, and what to do with it."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from app import commands
from app.edit_words import step_names
from app.figures import size
from app.markdown import literal, option, sanitised
from components.copy_button import copy_button
from components.workflow_graph import last_text
from conductor_client.catalogue import text
from conductor_client.errors import StepError
from conductor_client.run_state import RunState

MOST_SHOWN = 100_000
"""Characters of a text that are drawn; the rest is in the download."""
LONG = 2_500
"""Characters above which a text gets a scroll bar of its own, so that what stands below stays near."""
TALL_PX = 420
PLACE_PX = 171
"""Height of the place that an answer of one line takes, on a desktop screen."""
MOST_COPIED = 200_000
"""Characters that a copy button carries."""


def draw(run: RunState) -> None:
    """The answer of a run that has ended, marked when it is partial or from a failed run.

    Before that, its place, with what the last step writes: so the page does not jump when the answer comes.
    """
    if not run.has_ended:
        with st.container(border=True, key="answer_to_come", height=PLACE_PX):
            st.markdown(f"##### {text('studio.answer')}", anchors=False)
            last_text(run.run_id, empty=text("studio.answer_to_come"), key="answer.live")
        return
    _problem(run)
    if run.final_output is None:
        return
    with st.container(border=True, key="answer"):
        is_raw = _head(run)
        _body(run.final_output, is_raw=is_raw)
        if run.status == "succeeded":
            st.chat_input(
                text("studio.follow_up"),
                key="studio.follow_up",
                on_submit=commands.ask_follow_up,
                args=(run, "studio.follow_up"),
            )
    if run.messages:
        _conversation(run)


def _problem(run: RunState) -> None:
    if run.status == "cancelled":
        stopped = [step_id for step_id, step in run.steps.items() if step.status == "cancelled"]
        where = step_names(run.workflow, stopped) if run.workflow and stopped else ""
        said = text("studio.was_stopped_in", steps=where) if where else text("studio.was_stopped")
        st.info(said, icon=":material/stop_circle:")
    elif run.error is not None and run.status == "failed":
        draw_step_error(run.error)


def draw_step_error(error: StepError) -> None:
    """Why a run or a step failed, and what helps."""
    said = f"**{literal(error.message)}**" + (f"  \n{literal(error.hint)}" if error.hint else "")
    st.error(said, icon=":material/error:")


def _head(run: RunState) -> bool:
    """The title line; returns whether the raw text is wanted."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"##### {literal(_title(run))}", width="content", anchors=False)
        if run.status == "failed":
            st.badge(text("studio.of_failed_run"), icon=":material/warning:", color="red")
        elif run.partial:
            st.badge(text("studio.partial"), icon=":material/incomplete_circle:", color="orange")
        st.space("stretch")
        chosen = choose_form(key="studio.answer_form", first="drawn")
        draw_copy(run.final_output or "", key="answer.copy", label=text("studio.copy_answer"))
    return chosen == "raw"


def _title(run: RunState) -> str:
    """ "Answer" for a run that ended well; else whose text it is, so that it does not pass for one."""
    if run.status == "succeeded":
        return text("studio.answer")
    for step in reversed(run.workflow.steps if run.workflow else ()):
        known = run.steps.get(step.step_id)
        if known is not None and run.final_output in (known.output, known.partial_text):
            return text("studio.text_of_step", n=step.position + 1, worker=known.worker or step.worker)
    return text("studio.text_kept")


def choose_form(*, key: str, first: Literal["drawn", "raw"]) -> str:
    """The choice between the drawn text and the raw one; ``first`` is what stands before anybody chose."""
    chosen = st.segmented_control(
        text("studio.answer_form"),
        ["drawn", "raw"],
        default=first,
        required=True,
        format_func=lambda form: option(text(f"studio.answer_{form}")),
        key=key,
        label_visibility="collapsed",
        persist_state="session",
    )
    return str(chosen)


def _body(said: str, *, is_raw: bool) -> None:
    if is_raw:
        draw_text(said, key="answer.raw")
        return
    with st.container(height=_height(said), border=False, key="answer.body"):
        st.markdown(sanitised(said[:MOST_SHOWN]), anchors=False)
    _rest(said, key="answer.whole")


def draw_text(said: str, *, key: str, language: str | None = None) -> None:
    """A text exactly as it is, with a copy button; a very long one is cut and offered whole as a file."""
    st.code(said[:MOST_SHOWN], language=language, wrap_lines=True, height=_height(said))
    _rest(said, key=key)


def _height(said: str) -> int | Literal["content"]:
    return TALL_PX if len(said) > LONG or said.count("\n") > 40 else "content"


def _rest(said: str, *, key: str) -> None:
    if len(said) <= MOST_SHOWN:
        return
    st.caption(text("common.cut", shown=f"{MOST_SHOWN:,}", n=f"{len(said):,}"))
    st.download_button(
        text("common.download_whole", size=size(len(said.encode()))),
        said.encode,  # only when it is asked for: the text may be tens of megabytes
        file_name="output.txt",
        mime="text/plain",
        key=key,
        on_click="ignore",
        icon=":material/download:",
    )


def draw_copy(said: str, *, key: str, label: str, is_path: bool = False) -> None:
    """A button that copies; none for texts too long for a clipboard."""
    if len(said) <= MOST_COPIED:
        copied, failed = text("common.copied"), text("common.copy_failed")
        copy_button(said, label=label, copied=copied, failed=failed, key=key, is_path=is_path)


def _conversation(run: RunState) -> None:
    with st.expander(text("studio.conversation", n=len(run.messages) // 2), icon=":material/forum:"):
        for message in run.messages:
            with st.chat_message(message.role if message.role != "system" else "assistant"):
                st.markdown(sanitised(message.content[:MOST_SHOWN]), anchors=False)
