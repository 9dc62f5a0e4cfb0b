"""Who may do what: the token, the browser's cookie, and the key of a share link. Pure; knows no HTTP.

The cookie does not hold the token but a signature made with it, so it ends with the token and with its day.
"""

from __future__ import annotations

import hashlib
import hmac
import time

COOKIE = "conductor_session"
COOKIE_DAYS = 30


def same(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing about where they differ."""
    return hmac.compare_digest(given.encode(), expected.encode())


def sign_in(token: str, *, now: float | None = None) -> str:
    """The cookie's value for a person who knew the token; good for 30 days."""
    ends = int((time.time() if now is None else now) + COOKIE_DAYS * 86_400)
    return f"{ends}.{_signature(token, f'session:{ends}')}"


def is_signed_in(cookie: str, token: str, *, now: float | None = None) -> bool:
    """Whether the cookie was made with this token and has not run out."""
    ends, _, signature = cookie.partition(".")
    if not ends.isdecimal() or len(ends) > 12:
        return False
    genuine = same(signature, _signature(token, f"session:{ends}"))
    return genuine and int(ends) > (time.time() if now is None else now)


def share_key(secret: str, run_id: str) -> str:
    """The key that lets its holder read this one run; the same one each time it is asked for."""
    return _signature(secret, f"share:{run_id}")[:32]


def is_share_key(key: str, secret: str, run_id: str) -> bool:
    """Whether the key was made for this run."""
    return same(key, share_key(secret, run_id))


def _signature(secret: str, message: str) -> str:
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()
