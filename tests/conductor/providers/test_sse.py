"""Server-sent events out of bytes cut anywhere."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.providers.sse import LONGEST_EVENT, Event, SseDecoder

STREAM = (
    b": hello\n\nevent: ping\ndata: {}\n\ndata: one\ndata: two\n\n\n\nevent: none\n\n"
    b"id: 4\nretry: 9\ndata:tight\n\ndata: gr\xc3\xbc\xc3\x9fe\n\n"
)
EVENTS: list[Event] = [("ping", b"{}"), ("", b"one\ntwo"), ("", b"tight"), ("", b"gr\xc3\xbc\xc3\x9fe")]


def decode(stream: bytes, cuts: list[int]) -> list[Event]:
    decoder = SseDecoder()
    events: list[Event] = []
    edges = [0, *sorted(cuts), len(stream)]
    for start, end in itertools.pairwise(edges):
        events += decoder.feed(stream[start:end])
    return events + decoder.flush()


@given(st.lists(st.integers(0, len(STREAM))))
def test_cuts_do_not_matter(cuts: list[int]) -> None:
    assert decode(STREAM, cuts) == EVENTS


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_newlines_of_both_kinds(newline: bytes) -> None:
    assert decode(STREAM.replace(b"\n", newline), []) == EVENTS


def test_last_event_without_its_blank_line() -> None:
    assert decode(b'data: {"a": 1}', []) == [("", b'{"a": 1}')]
    assert decode(b"", []) == []


def test_one_line_of_megabytes_in_many_pieces_is_linear() -> None:
    decoder = SseDecoder()
    started = time.process_time()
    for _ in range(20_000):
        decoder.feed(b"x" * 1000)
    assert decoder.feed(b"\n\n") == []
    assert time.process_time() - started < 10


@given(
    st.lists(st.integers(0, 2 * len(STREAM))),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_line_ends_and_a_byte_order_mark_read_alike_wherever_they_are_cut(
    cuts: list[int], newline: bytes, mark: bytes
) -> None:
    stream = mark + STREAM.replace(b"\n", newline)
    assert decode(stream, [min(cut, len(stream)) for cut in cuts]) == EVENTS


@given(st.binary(max_size=400), st.lists(st.integers(0, 400)))
def test_no_bytes_break_it_and_cuts_never_change_what_is_read(stream: bytes, cuts: list[int]) -> None:
    assert decode(stream, [min(cut, len(stream)) for cut in cuts]) == decode(stream, [])


def test_an_event_without_an_end_is_given_up() -> None:
    decoder = SseDecoder()
    with pytest.raises(ValueError, match="without an end"):
        for _ in range(LONGEST_EVENT // 2**20 + 1):
            decoder.feed(b"x" * 2**20)
