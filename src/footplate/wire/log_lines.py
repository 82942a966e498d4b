"""Log lines of Footplate's own API: one JSON object a line."""

from __future__ import annotations

import json

from footplate.domain.log_lines import Entry, restart_of
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time

_encode = json.JSONEncoder(separators=(",", ":")).encode
"""In ASCII: readers of lines split them at other characters than ``\\n``, too."""


def encode_lines(entries: tuple[Entry, ...]) -> bytes:
    return b"".join(f"{_encode(_document(entry))}\n".encode() for entry in entries)


def _document(entry: Entry) -> JsonObject:
    """Encodes a log line.

    ``cursor`` is the position after the line; ``time`` is when the program printed it. Entries that
    were written over Cloud Logging's API also have ``log``, labels and similar fields.
    """
    line = entry.line
    document: JsonObject = {
        "cursor": entry.cursor,
        "timestamp": format_time(entry.timestamp),
        "time": format_time(line.time),
        "severity": line.severity,
        "attempt": entry.attempt,
        "restart": restart_of(line.sequence),
        "replica": entry.replica,
        "sequence": line.sequence,
        "message": line.message,
    }
    if entry.trial:
        document["trial"] = entry.trial
    if line.log:
        document["log"] = line.log
        document |= json.loads(line.extra or "{}")
    if line.payload:
        document["payload"] = json.loads(line.payload)
    return document
