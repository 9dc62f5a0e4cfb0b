"""Server-sent events out of bytes cut anywhere."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.providers.sse import Event, SseDecoder

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
    assert time.process_time() - started < 2.0
