"""Server-sent events from bytes, however they are cut."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from conductor_client.sse import ServerSentEvent, read_events


def test_fields_comments_and_defaults() -> None:
    text = b": a comment\nid: 7\nevent: step_started\ndata: {}\n\n"
    text += b"data:two\ndata: lines\r\n\r\nevent: nothing\n\n"
    assert list(read_events([text])) == [
        ServerSentEvent("step_started", "{}", "7"),
        ServerSentEvent("message", "two\nlines", "7"),
    ]


def test_unfinished_event_is_not_given() -> None:
    assert list(read_events([b"data: 1\n\ndata: 2\n"])) == [ServerSentEvent("message", "1", "")]


@given(
    texts=st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), min_size=1), max_size=5),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_any_cut_gives_the_same_events(texts: list[str], cuts: list[int]) -> None:
    whole = "".join(f"data: {text}\n\n" for text in texts).encode()
    places = sorted({0, *(cut for cut in cuts if cut < len(whole)), len(whole)})
    chunks = [whole[start:end] for start, end in itertools.pairwise(places)]
    assert [event.data for event in read_events(chunks)] == texts


def test_a_line_of_many_megabytes_takes_linear_time() -> None:
    chunks = [b"data: ", *[b"x" * 65_536] * 400, b"\n\n"]
    [event] = read_events(chunks)
    assert len(event.data) == 400 * 65_536
