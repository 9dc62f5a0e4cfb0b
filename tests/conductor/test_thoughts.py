"""Thoughts told apart from answers, whole and as they stream."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.thoughts import ThoughtSplitter, split_thoughts, unopened_thought


@pytest.mark.parametrize(
    ("text", "thoughts", "rest"),
    [
        ("plain", "", "plain"),
        ("<think>a</think>b", "a", "b"),
        ("<think>a", "a", ""),
        ("a</think>b", "a", "b"),
        ("x\n<thinking>a</thinking>\ny", "a", "x\n\ny"),
        ("in line <think> stays", "", "in line <think> stays"),
        ("<THINK>a</THINK>b", "a", "b"),
    ],
)
def test_whole_texts(text: str, thoughts: str, rest: str) -> None:
    assert split_thoughts(text) == (thoughts, rest)


def feed(pieces: list[str]) -> tuple[str, str]:
    splitter = ThoughtSplitter()
    parts = [splitter.feed(piece) for piece in pieces] + [splitter.flush()]
    return "".join(part[0] for part in parts), "".join(part[1] for part in parts)


@given(st.lists(st.integers(0, 40)))
def test_a_stream_may_be_cut_anywhere(cuts: list[int]) -> None:
    for text, wanted in (
        ("  <think>a < b </thin c</think>\n\nanswer <think>", ("a < b </thin c", "answer <think>")),
        ("<thinking>deep</thinking>x", ("deep", "x")),
        ("<thanks> no tag", ("", "<thanks> no tag")),
        ("plain answer", ("", "plain answer")),
        ("<think>never ends </thi", ("never ends </thi", "")),
    ):
        edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
        pieces = [text[start:end] for start, end in itertools.pairwise(edges)]
        assert feed(pieces) == wanted


@given(st.lists(st.text(max_size=5)))
def test_nothing_is_lost_without_tags(pieces: list[str]) -> None:
    text = "".join(pieces)
    if not text.lstrip().lower().startswith("<think"):
        assert feed(pieces) == ("", text)


def test_unopened_thought() -> None:
    assert unopened_thought("so 42.\n</think>\n\nThe answer") == ("so 42.", "The answer")
    assert unopened_thought('end with "</think>" please') == ("", 'end with "</think>" please')
    assert unopened_thought("none") == ("", "none")
