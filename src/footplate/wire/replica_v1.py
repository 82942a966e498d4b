"""The replica API's JSON: tasks for supervisors, and their reports.

Reports come from whoever has a replica's token, which a program may get hold of: everything in
them is checked. What an honest program can print is never refused, for a supervisor sends its
reports until they are taken.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.jobs import Address, Exit, ExitKind
from footplate.domain.log_lines import Line
from footplate.domain.states import Phase
from footplate.wire.json_text import describe
from footplate.wire.severity import clean, read_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.domain.names import AttemptId
    from footplate.domain.runtimes import Runtime, Slice
    from footplate.wire.json_text import JsonObject

MAX_RECORDS = 50_000
"""In one report."""
MAX_LINE_LENGTH = 128 << 10
"""In characters: twice the length at which supervisors cut lines."""
MAX_TEXT_LENGTH = 4096
"""Of an event's message or an exit's cause; the rest is cut off."""
_MAX_SEQUENCE = 1 << 53
_MAX_TIME = 253_402_300_799.0
_EVENT_KIND = re.compile(r"[A-Z][A-Z_]{0,63}")
_STREAMS = ("stdout", "stderr")
_PHASES = ("PREPARING", "READY", "RUNNING")
MAX_OPEN_PORTS = 16
_HOST = re.compile(r"[A-Za-z0-9.:_-]{1,253}")
_MAX_PORT = 65535


@dataclass(frozen=True)
class StateRecord:
    """A replica's environment is being prepared, or is made, or its program runs.

    ``address``: where the others find it; only that of a gang, and only when it is READY.
    """

    sequence: int
    time: datetime
    phase: Phase
    address: Address | None = None


@dataclass(frozen=True)
class EventRecord:
    sequence: int
    time: datetime
    kind: str
    message: str


@dataclass(frozen=True)
class LineRecord:
    line: Line

    @property
    def sequence(self) -> int:
        return self.line.sequence


@dataclass(frozen=True)
class ExitRecord:
    """The end of the program: the last record of a replica."""

    sequence: int
    time: datetime
    exit: Exit


Record = StateRecord | EventRecord | LineRecord | ExitRecord


def decode_reports(body: bytes) -> tuple[Record, ...]:
    """The records of a report, in the order of their sequence numbers.

    Raises:
        InvalidArgument: naming the record and what is wrong with it.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidArgument("the report is not JSON in UTF-8") from None
    records = value.get("records") if isinstance(value, dict) else None
    if not isinstance(records, list):
        raise _wrong("records", records, "a list of records")
    if len(records) > MAX_RECORDS:
        raise _wrong("records", len(records), f"at most {MAX_RECORDS} records")
    decoded: list[Record] = []
    last = 0
    for index, record in enumerate(records):
        fields = _Fields(record, f"records[{index}]")
        sequence = fields.integer("n", last + 1, _MAX_SEQUENCE)
        decoded.append(_decode(fields, sequence))
        last = sequence
    return tuple(decoded)


def _decode(fields: _Fields, sequence: int) -> Record:
    time = fields.time("t")
    match fields.choice("k", ("line", "state", "event", "exit")):
        case "line":
            stream = fields.choice("stream", _STREAMS)
            read = read_line(stream, fields.text("m", MAX_LINE_LENGTH))
            return LineRecord(Line(sequence, time, read.severity, read.message, read.payload))
        case "state":
            phase = Phase(fields.choice("phase", _PHASES))
            return StateRecord(sequence, time, phase, fields.address(phase))
        case "event":
            return EventRecord(sequence, time, fields.kind("kind"), fields.cut_text("m"))
        case _:
            kind = ExitKind(fields.choice("kind", tuple(kind.value for kind in ExitKind)))
            code = fields.integer("code", -(1 << 31), (1 << 31) - 1, default=0)
            return ExitRecord(sequence, time, Exit(kind, code, fields.cut_text("cause")))


class _Fields:
    """The fields of one record; ``path`` says which."""

    def __init__(self, record: object, path: str) -> None:
        if not isinstance(record, dict):
            raise _wrong(path, record, "an object")
        self._record: Mapping[str, object] = record
        self._path = path

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self._record.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise self._wrong(name, f"an integer from {least} to {most}")

    def address(self, phase: Phase) -> Address | None:
        if phase is not Phase.READY:
            return None
        host, ports = self._record.get("host"), self._record.get("open_ports", [])
        if not isinstance(host, str) or not _HOST.fullmatch(host):
            raise self._wrong("host", "the name or the number of a host")
        if not isinstance(ports, list) or len(ports) > MAX_OPEN_PORTS:
            raise _wrong(f"{self._path}.open_ports", None, f"at most {MAX_OPEN_PORTS} ports")
        numbered = [_Fields({"port": port}, self._path) for port in ports]
        opened = tuple(fields.integer("port", 1, _MAX_PORT) for fields in numbered)
        return Address(host, self.integer("port", 1, _MAX_PORT), opened)

    def time(self, name: str) -> datetime:
        value = self._record.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "seconds since 1970")
        if 0 <= value <= _MAX_TIME:  # false for NaN, too
            return datetime.fromtimestamp(value, UTC)
        raise self._wrong(name, "seconds since 1970, before the year 10000")

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and value in allowed:
            return value
        raise self._wrong(name, ", ".join(allowed))

    def text(self, name: str, length: int) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and len(value) <= length:
            return value
        raise self._wrong(name, f"a text of at most {length} characters")

    def cut_text(self, name: str) -> str:
        """A text for the record of the job: cut where it is too long."""
        value = self._record.get(name, "")
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        if len(value) > MAX_TEXT_LENGTH:
            value = f"{value[: MAX_TEXT_LENGTH - 3]}..."
        return clean(value)

    def kind(self, name: str) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and _EVENT_KIND.fullmatch(value):
            return value
        raise self._wrong(name, "capital letters and underscores")

    def _wrong(self, name: str, allowed: str) -> InvalidArgument:
        return _wrong(f"{self._path}.{name}", self._record.get(name), allowed)


def _wrong(path: str, given: object, allowed: str) -> InvalidArgument:
    shown = clean(describe(given)) if isinstance(given, str | int | float | None) else "no scalar"
    return InvalidArgument.of((Violation(path, f"{shown} given; allowed: {allowed}"),))


@dataclass(frozen=True)
class PythonTask:
    """``python -m module args``."""

    module: str
    args: tuple[str, ...]


@dataclass(frozen=True)
class Package:
    """One of the user's packages, by the name of its file."""

    file: str


@dataclass(frozen=True)
class Allotment:
    """What the machine of a replica has, for limits."""

    machine_type: str
    vcpus: int
    memory_mb: int


@dataclass(frozen=True)
class Task:
    """What one supervisor is to do.

    ``environment`` is expanded and in order; ``directories`` are made before the program starts.
    ``gpus``: the program is to find GPUs of its own, and gets the runtime made for them.
    ``allotment``: it gets no more than that, where the host can see to it; None: no limits.
    """

    attempt_id: AttemptId
    attempt: int
    replica: str
    job: str
    program: PythonTask
    packages: tuple[Package, ...]
    runtime: Runtime
    environment: tuple[tuple[str, str], ...]
    directories: tuple[str, ...]
    time_limit_s: float
    stop_grace_s: float
    heartbeat_s: float
    gpus: bool = False
    allotment: Allotment | None = None
    gathering_s: float | None = None
    """How long it may wait, when it is ready, for the others of its gang; None: it is alone.

    A gang's environment is only told when all are ready."""


@dataclass(frozen=True)
class Start:
    """Whether a replica that is ready may start its program.

    Either ``environment`` is there, expanded and in order, or the replicas in ``awaited`` aren't
    ready yet.
    """

    environment: tuple[tuple[str, str], ...] | None
    awaited: tuple[str, ...] = ()


def encode_start(start: Start) -> JsonObject:
    if start.environment is None:
        return {"awaited": list(start.awaited)}
    return {"environment": [[name, value] for name, value in start.environment]}


def encode_task(task: Task) -> JsonObject:
    return {
        "attempt_id": task.attempt_id,
        "attempt": task.attempt,
        "replica": task.replica,
        "job": task.job,
        "program": {
            "kind": "python",
            "module": task.program.module,
            "args": list(task.program.args),
        },
        "packages": [{"file": package.file} for package in task.packages],
        "runtime": _encode_runtime(task.runtime),
        "environment": [[name, value] for name, value in task.environment],
        "directories": list(task.directories),
        "time_limit_s": task.time_limit_s,
        "stop_grace_s": task.stop_grace_s,
        "heartbeat_s": task.heartbeat_s,
        "gpus": task.gpus,
        "allotment": _encode_allotment(task.allotment),
        "gathering_s": task.gathering_s,
    }


def _encode_allotment(allotment: Allotment | None) -> JsonObject | None:
    return None if allotment is None else {**vars(allotment)}


def _encode_runtime(runtime: Runtime) -> JsonObject:
    """The slices of each variant from small to large."""
    return {
        "name": runtime.name,
        "python": runtime.python,
        "variants": {
            variant: [_encode_slice(part) for part in slices]
            for variant, slices in runtime.variants.items()
        },
    }


def _encode_slice(part: Slice) -> JsonObject:
    return {
        "name": part.name,
        "lock_sha256": part.lock_sha256,
        "unless": list(part.unless),
        "fallback": part.fallback,
    }


def encode_answer(acknowledged: int, *, stop: bool) -> JsonObject:
    """``acknowledged``: everything up to this sequence is kept for ever."""
    return {"acknowledged": acknowledged, "stop": stop}
