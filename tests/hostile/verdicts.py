"""What every answer has to be, whatever was asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from tests.hostile.hostile_service import SECRET

if TYPE_CHECKING:
    from tests.hostile.caller import Answer, Call

MOST_ERROR_BYTES = 1 << 20
"""Of an error, however long what was wrong."""
_WORKS = frozenset(range(100, 500)) | {501}
"""501: known to Google's API, and not there yet; every other 5xx is our fault."""
_BROKEN_HEADER = frozenset(b"\r\n\x00")


def check(call: Call, answer: Answer) -> None:
    """Raises AssertionError."""
    assert answer.error is None, answer.error
    if answer.status == 0:
        assert call.breaks_off, "no answer"
        return
    assert answer.status in _WORKS, (answer.status, answer.body[:500])
    assert SECRET.encode() not in answer.body
    for name, value in answer.headers:
        assert not _BROKEN_HEADER.intersection(name + value), (name, value[:200])
        assert SECRET.encode() not in value
    if answer.status >= 400 and answer.header("content-type").startswith(("text/html", "text/pl")):
        assert b"Traceback" not in answer.body  # a page of the console, for who accepts HTML
    elif answer.status >= 400 and answer.body:
        check_error(answer.status, answer.body)
    elif answer.header("content-type") == "application/json" and answer.body:
        json.loads(answer.body, parse_constant=_refuse)
    if answer.header("content-type").startswith("multipart/mixed"):
        for part in answer.body.split(b"HTTP/1.1 ")[1:]:
            assert int(part[:3]) in _WORKS, part[:500]


def check_error(status: int, body: bytes) -> None:
    """As Google's services say it: clients show ``message``, and decide by ``code``."""
    assert len(body) <= MOST_ERROR_BYTES, f"{len(body)} bytes: {body[:500]!r}"
    document: dict[str, Any] = json.loads(body, parse_constant=_refuse)
    error = document["error"]
    assert error["code"] == status
    assert isinstance(error["message"], str)
    assert error["message"]
    assert error["status"].isupper()
    assert "Traceback" not in error["message"]


def _refuse(name: str) -> NoReturn:
    raise AssertionError(f"{name} is no JSON")
