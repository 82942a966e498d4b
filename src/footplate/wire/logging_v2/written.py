"""The request that writes entries, and the log lines that they become."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.log_lines import Line
from footplate.wire.json_model import limited
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.log_severity import SEVERITIES, clean, is_plain
from footplate.wire.logging_v2.entry_models import Resource, WriteEntriesRequest, WrittenEntry
from footplate.wire.timestamps import parse_time

MAX_ENTRY_BYTES = 256 << 10
MAX_ENTRIES = 10_000
MAX_INSERT_ID = 512
"""Characters; as many as the id of a log may have."""
_LOG_NAME = re.compile(r"projects/([^/]+)/logs/([^/]+)")
_LOG_ID = re.compile(r"[A-Za-z0-9/_.-]{1,511}")
_DIAGNOSTIC = "logging.googleapis.com/diagnostic"
"""In entries by which Google's clients tell Google their version and language."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


_KEPT = ("http_request", "operation", "source_location", "trace", "span_id", "trace_sampled")


@dataclass(frozen=True)
class Written:
    """An entry to be stored: its place, and the log line made from it, whose number is still 0.

    ``job_id`` and ``task`` come from its resource, and may be empty.
    """

    project: str
    job_id: str
    task: str
    line: Line
    insert_id: str


@dataclass(frozen=True)
class Writing:
    """The entries that can be stored, and the violations of the others."""

    entries: tuple[Written, ...]
    violations: tuple[Violation, ...]
    dry_run: bool


def read_writing(document: JsonObject, now: datetime) -> Writing:
    """Reads the entries of a request; those without a time get ``now``.

    Raises:
        InvalidArgument: names the entries that can't be stored, and why; with ``partialSuccess``
            only for faults of the whole request.
    """
    parsed = WriteEntriesRequest.understand(document)
    request = parsed.message
    items = request.entries or []
    if len(items) > MAX_ENTRIES:
        found = f"{len(items)} items given; allowed: at most {MAX_ENTRIES}"
        raise InvalidArgument.of((Violation("entries", found),))
    wrong = list(parsed.violations)
    whole = [each for each in wrong if not each.field.startswith("entries[")]
    clouded = {each.field.partition("]")[0] for each in wrong}
    written = []
    for index, item in enumerate(items):
        path = f"entries[{index}"
        if path in clouded or _DIAGNOSTIC in (item.json_payload or {}):
            continue
        reader = _Reader(request, item, f"{path}].")
        if violations := tuple(reader.check()):
            wrong += violations
        else:
            written.append(reader.read(now))
    if whole or (wrong and not request.partial_success):
        raise InvalidArgument.of(limited(tuple(wrong)))
    return Writing(tuple(written), limited(tuple(wrong)), request.dry_run)


class _Reader:
    """Reads one entry; ``at`` is its path in the request, with a dot at the end."""

    def __init__(self, request: WriteEntriesRequest, entry: WrittenEntry, at: str) -> None:
        self._entry = entry
        self._at = at
        self._log_name = entry.log_name or request.log_name
        self._resource = entry.resource or request.resource or Resource()
        self._labels = {**(request.labels or {}), **(entry.labels or {})}

    def check(self) -> Iterator[Violation]:
        entry = self._entry
        if entry.proto_payload is not None:
            allowed = "textPayload or jsonPayload, because a job's log keeps only these"
            yield Violation(f"{self._at}protoPayload", f"given; allowed: {allowed}")
        if entry.text_payload is not None and entry.json_payload is not None:
            yield Violation(
                f"{self._at}jsonPayload", "given together with textPayload; allowed: one of the two"
            )
        match = _LOG_NAME.fullmatch(self._log_name)
        if match is None or not _LOG_ID.fullmatch(unquote(match[2])):
            yield self._wrong("logName", self._log_name, "projects/PROJECT/logs/LOG_ID")
        if len(entry.insert_id) > MAX_INSERT_ID:
            allowed = f"at most {MAX_INSERT_ID} characters"
            yield self._wrong("insertId", f"{len(entry.insert_id)} characters", allowed)
        if not is_plain(entry.json_payload or {}):
            allowed = "an object of at most 50 levels, without the character U+0000"
            yield Violation(f"{self._at}jsonPayload", f"given otherwise; allowed: {allowed}")
        size = len(_encode(entry.encode()).encode("utf-8", "replace"))
        if size > MAX_ENTRY_BYTES:
            found = f"{size} bytes given; allowed: at most {MAX_ENTRY_BYTES}"
            yield Violation(self._at.rstrip("."), found)

    def _wrong(self, field: str, given: object, allowed: str) -> Violation:
        return Violation(f"{self._at}{field}", f"{describe(given)} given; allowed: {allowed}")

    def read(self, now: datetime) -> Written:
        """Converts an entry that has no faults."""
        entry = self._entry
        _, project, _, log = self._log_name.split("/", 3)
        payload, message = entry.json_payload, entry.text_payload or ""
        if payload is not None:
            text = payload.get("message")
            message = text if isinstance(text, str) else _encode(payload)
        given: Mapping[str, Any] = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
        names = (WrittenEntry.model_fields[name].alias or name for name in _KEPT)
        extra = {name: given[name] for name in names if given.get(name)}
        if self._labels:
            extra["labels"] = self._labels
        if entry.insert_id:
            extra["insertId"] = entry.insert_id
        line = Line(
            0,
            now if entry.timestamp is None else parse_time(entry.timestamp),
            entry.severity or SEVERITIES[0],
            clean(message),
            "" if payload is None else clean(_encode(payload)),
            unquote(log),
            clean(_encode(extra)),
        )
        labels = self._resource.labels or {}
        job_id, task = labels.get("job_id", ""), labels.get("task_name", "")
        return Written(project, job_id, task, line, entry.insert_id)
