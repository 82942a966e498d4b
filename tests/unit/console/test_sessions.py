"""Sessions of the console."""

from __future__ import annotations

import pytest

from footplate.console.sessions import LIFETIME_S, Sessions


def test_a_session_ends() -> None:
    now = [1000.0]
    sessions = Sessions("sésame", lambda: now[0])
    cookie = sessions.open("sésame")
    assert sessions.token_of(cookie) == "sésame"
    now[0] += LIFETIME_S
    assert sessions.token_of(cookie) is None


def test_another_token_opens_nothing() -> None:
    assert Sessions("a", lambda: 0.0).open("b") is None
    assert Sessions(None, lambda: 0.0).open("") is None
    cookie = Sessions("a", lambda: 0.0).open("a")
    assert Sessions("b", lambda: 0.0).token_of(cookie) is None
    assert Sessions(None, lambda: 0.0).token_of(cookie) is None


@pytest.mark.parametrize("cookie", [None, "", ".", "9", "99999999999.", "x.y", "٣.y", "9.é\ud800"])
def test_a_made_up_cookie_opens_nothing(cookie: str | None) -> None:
    assert Sessions("a", lambda: 0.0).token_of(cookie) is None


def test_a_longer_life_is_not_believed() -> None:
    sessions = Sessions("a", lambda: 0.0)
    end, _, signature = str(sessions.open("a")).partition(".")
    assert sessions.token_of(f"{int(end) + 1}.{signature}") is None
