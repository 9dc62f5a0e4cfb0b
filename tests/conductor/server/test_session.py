"""Cookie and share key: made, recognised, refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.server.session import COOKIE_DAYS, is_share_key, is_signed_in, same, share_key, sign_in

DAY_S = 86_400


def test_cookie_holds_until_its_last_day_and_not_the_token() -> None:
    cookie = sign_in("a-long-token", now=1_000.0)
    assert "a-long-token" not in cookie
    assert is_signed_in(cookie, "a-long-token", now=1_000.0 + COOKIE_DAYS * DAY_S - 1)
    assert not is_signed_in(cookie, "a-long-token", now=1_000.0 + COOKIE_DAYS * DAY_S + 1)
    assert not is_signed_in(cookie, "another-token", now=1_000.0)


def test_cookie_cannot_be_given_more_time() -> None:
    ends, _, signature = sign_in("token", now=0.0).partition(".")
    assert not is_signed_in(f"{int(ends) + DAY_S}.{signature}", "token", now=0.0)


@given(st.text())
def test_no_text_is_a_cookie_or_a_key(text: str) -> None:
    assert not is_signed_in(text, "token", now=0.0)
    assert not is_share_key(text, "secret", "run_1")


@pytest.mark.parametrize("other", ["run_2", "run_1 ", "", "share:run_1"])
def test_share_key_is_for_one_run(other: str) -> None:
    key = share_key("secret", "run_1")
    assert is_share_key(key, "secret", "run_1")
    assert not is_share_key(key, "secret", other)
    assert not is_share_key(key, "another secret", "run_1")


def test_cookie_is_no_share_key_and_the_other_way_round() -> None:
    assert not is_share_key(sign_in("secret").partition(".")[2][:32], "secret", "run_1")


def test_secrets_of_any_characters_can_be_compared() -> None:
    assert same("ключ", "ключ")
    assert not same("ключ", "key")
