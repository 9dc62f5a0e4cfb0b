"""Halves of UTF-16 pairs, wherever they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.characters import whole, whole_all


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a\ud83db😀", "a\ufffdb😀"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("x\ud83d", "x\ufffd"),
        ("é\0\n", "é\0\n"),
    ],
)
def test_halves_are_joined_or_replaced(text: str, wanted: str) -> None:
    assert whole(text) == wanted


@given(st.text(st.characters(categories=None)))
def test_any_text_can_be_carried_afterwards_and_whole_text_stays(text: str) -> None:
    once = whole(text)
    once.encode()
    assert whole(once) == once
    assert "\ufffd" in once or len(once) <= len(text)


def test_nested_data_is_whole_keys_included() -> None:
    assert whole_all({"\ud83d": ["\ude00", {"a": ("b", 1, None)}]}) == {
        "\ufffd": ["\ufffd", {"a": ["b", 1, None]}]
    }
