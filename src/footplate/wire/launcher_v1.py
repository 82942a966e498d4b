"""The JSON of launchers' reports and of the answers to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from footplate.domain.errors import InvalidArgument
from footplate.domain.launchers import LauncherReport, LauncherState
from footplate.wire.json_text import describe, parse_object

if TYPE_CHECKING:
    from footplate.domain.launchers import LauncherAnswer
    from footplate.wire.json_text import JsonObject

MAX_REPORT_BYTES = 64 << 10
MAX_TEXT_LENGTH = 1000
MAX_HOLD_S = 3600
_TEXTS = ("incarnation", "job", "node", "reason", "ending")


def decode_report(body: bytes) -> tuple[LauncherReport, float]:
    """Decodes a report, and the seconds for which its launcher waits for an answer.

    Raises InvalidArgument.
    """
    value = parse_object(body)
    try:
        state = LauncherState(value.get("state"))
    except ValueError:
        raise _wrong("state", value, ", ".join(s.value for s in LauncherState)) from None
    texts = {name: value.get(name, "") for name in _TEXTS}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise _wrong(name, value, "a text")
    restart, hold_s = value.get("restart"), value.get("hold_s", 0)
    if type(restart) is not int:
        raise _wrong("restart", value, "a whole number")
    if not isinstance(hold_s, int | float):
        raise _wrong("hold_s", value, "a number")
    report = LauncherReport(
        **{name: cast("str", text)[:MAX_TEXT_LENGTH] for name, text in texts.items()},
        restart=restart,
        state=state,
        stopping=value.get("stopping") is True,
    )
    return report, float(min(hold_s, MAX_HOLD_S))


def _wrong(field: str, value: JsonObject, allowed: str) -> InvalidArgument:
    return InvalidArgument(f"{field}: {describe(value.get(field))} given; allowed: {allowed}")


def encode_answer(answer: LauncherAnswer) -> JsonObject:
    encoded: JsonObject = {}
    if answer.leave:
        encoded["leave"] = True
    if answer.stop:
        encoded["stop"] = True
    if answer.restart is not None:
        ticket = cast("JsonObject", answer.ticket)
        encoded["run"] = {"restart": answer.restart, "ticket": ticket}
    return encoded
