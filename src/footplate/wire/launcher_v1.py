"""The JSON of launchers' reports."""

from __future__ import annotations

from footplate.domain.errors import InvalidArgument
from footplate.domain.launchers import LauncherReport, LauncherState
from footplate.protocol import launcher
from footplate.protocol.message import DecodeError
from footplate.wire.json_text import describe, parse_object

MAX_REPORT_BYTES = 64 << 10
MAX_TEXT_LENGTH = 1000
MAX_HOLD_S = 3600
MAX_UP_S = 1e10


def decode_report(body: bytes) -> tuple[LauncherReport, float]:
    """Decodes a report, and the seconds for which its launcher waits for an answer.

    Raises InvalidArgument.
    """
    try:
        told = launcher.LauncherReport.decode(parse_object(body))
    except DecodeError as error:
        raise InvalidArgument(str(error)) from None
    try:
        state = LauncherState(told.state)
    except ValueError:
        allowed = ", ".join(s.value for s in LauncherState)
        raise InvalidArgument(f"state: {describe(told.state)} given; allowed: {allowed}") from None
    report = LauncherReport(
        incarnation=told.incarnation[:MAX_TEXT_LENGTH],
        job=told.job[:MAX_TEXT_LENGTH],
        node=told.node[:MAX_TEXT_LENGTH],
        restart=told.restart,
        state=state,
        reason=told.reason[:MAX_TEXT_LENGTH],
        ending=told.ending[:MAX_TEXT_LENGTH],
        stopping=told.stopping,
        boot_id=told.boot_id[:MAX_TEXT_LENGTH],
        up_s=float(max(0, min(told.up_s, MAX_UP_S))),
    )
    return report, float(min(told.hold_s, MAX_HOLD_S))
