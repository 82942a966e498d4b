"""Parses the reports of supervisors."""

from __future__ import annotations

import json
from datetime import datetime

from footplate.domain.errors import InvalidArgument
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Exit, ExitKind
from footplate.domain.log_lines import Line
from footplate.domain.replica_records import (
    EventRecord,
    ExitRecord,
    LineRecord,
    MetricRecord,
    Record,
    StateRecord,
    TagsRecord,
    UsageRecord,
)
from footplate.domain.usage import Counters, GpuUse, Sample
from footplate.wire.log_severity import read_line
from footplate.wire.replica_v1.fields import Fields, wrong

MAX_RECORDS = 50_000
"""In one report."""
MAX_LINE_LENGTH = 128 << 10
"""In characters: twice the length at which supervisors cut lines."""
MAX_GPUS = 64
"""In one sample."""
MAX_TAG_LENGTH = 4096
MAX_SOURCE_LENGTH = 1024
MAX_IMAGE_LENGTH = 1024
MAX_TAGS = 200
"""In one record, each of at most ``MAX_SEEN_LENGTH`` characters."""
MAX_SEEN_LENGTH = 256
_MAX_SEQUENCE = 1 << 53
_MAX_STEP = 1 << 53
_MAX_BYTES = 1 << 53
_MAX_SECONDS = 1e10
_MAX_PROCESSES = 1 << 22
_KINDS = ("line", "state", "event", "usage", "metric", "tags", "exit")
_EXITS = tuple(kind.value for kind in ExitKind if kind is not ExitKind.PREEMPTED)
"""What supervisors report; an engine alone knows of preemption."""
_STREAMS = ("stdout", "stderr", "progress")
"""``progress``: a line of either that its program rewrites, or hasn't ended yet."""
_PHASES = ("PREPARING", "READY", "RUNNING")


def decode_reports(body: bytes) -> tuple[Record, ...]:
    """Decodes the records of a report, in the order of their sequence numbers.

    Raises:
        InvalidArgument: names the record and what is wrong with it.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidArgument("the report is not JSON in UTF-8") from None
    records = value.get("records") if isinstance(value, dict) else None
    if not isinstance(records, list):
        raise wrong("records", records, "a list of records")
    if len(records) > MAX_RECORDS:
        raise wrong("records", len(records), f"at most {MAX_RECORDS} records")
    decoded: list[Record] = []
    last = 0
    for index, record in enumerate(records):
        fields = Fields(record, f"records[{index}]")
        sequence = fields.integer("n", last + 1, _MAX_SEQUENCE)
        decoded.append(_decode(fields, sequence))
        last = sequence
    return tuple(decoded)


def decode_image(body: bytes) -> tuple[str, str]:
    """Decodes a container image's name, and the digest or id that a replica found for it.

    Raises InvalidArgument.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidArgument("the image is not JSON in UTF-8") from None
    fields = Fields(value, "image")
    return fields.text("image", MAX_IMAGE_LENGTH), fields.text("reference", MAX_IMAGE_LENGTH)


def _decode(fields: Fields, sequence: int) -> Record:
    time = fields.time("t")
    match fields.choice("k", _KINDS):
        case "line":
            stream = fields.choice("stream", _STREAMS)
            read = read_line(stream, fields.text("m", MAX_LINE_LENGTH))
            return LineRecord(Line(sequence, time, read.severity, read.message, read.payload))
        case "state":
            phase = Phase(fields.choice("phase", _PHASES))
            return StateRecord(sequence, time, phase, fields.address(phase))
        case "event":
            return EventRecord(sequence, time, fields.kind("kind"), fields.cut_text("m"))
        case "usage":
            return UsageRecord(_decode_sample(fields, sequence, time))
        case "metric":
            return _decode_metric(fields, sequence, time)
        case "tags":
            return TagsRecord(sequence, time, fields.clean_texts("tags", MAX_TAGS, MAX_SEEN_LENGTH))
        case _:
            kind = ExitKind(fields.choice("kind", _EXITS))
            code = fields.integer("code", -(1 << 31), (1 << 31) - 1, default=0)
            cause, advice = fields.line_text("cause"), fields.line_text("advice")
            return ExitRecord(sequence, time, Exit(kind, code, cause, advice))


def _decode_metric(fields: Fields, sequence: int, time: datetime) -> MetricRecord:
    return MetricRecord(
        sequence,
        time,
        tag=fields.clean_text("tag", MAX_TAG_LENGTH),
        step=fields.integer("step", 0, _MAX_STEP),
        value=fields.real("value"),
        source=fields.clean_text("source", MAX_SOURCE_LENGTH),
    )


def _decode_sample(fields: Fields, sequence: int, time: datetime) -> Sample:
    counters = Counters(
        fields.number("s", _MAX_SECONDS),
        fields.maybe_number("cpu_s", _MAX_SECONDS),
        fields.maybe_integer("read_bytes", _MAX_BYTES),
        fields.maybe_integer("written_bytes", _MAX_BYTES),
        fields.maybe_integer("reduced_bytes", _MAX_BYTES),
        fields.maybe_number("awaited_s", _MAX_SECONDS),
    )
    return Sample(
        sequence,
        time,
        counters,
        quiet_s=fields.number("quiet_s", _MAX_SECONDS),
        memory_bytes=fields.maybe_integer("memory_bytes", _MAX_BYTES),
        processes=fields.maybe_integer("processes", _MAX_PROCESSES),
        stopped=fields.flag("stopped"),
        gpus=tuple(_decode_gpu(gpu) for gpu in fields.parts("gpus", MAX_GPUS)),
    )


def _decode_gpu(fields: Fields) -> GpuUse:
    percent = fields.maybe_number("percent", 100.0)
    return GpuUse(fields.word("id"), percent, fields.maybe_integer("memory_bytes", _MAX_BYTES))
