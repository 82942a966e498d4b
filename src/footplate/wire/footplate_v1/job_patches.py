"""Patches of what people may change of a job: its labels and its note."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.errors import Violation
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.shared_rules import check_labels

MAX_NOTE = 2000
_FIELDS = ("labels", "note")


@dataclass(frozen=True)
class JobPatch:
    """The fields to change; None leaves a field as it is."""

    labels: tuple[tuple[str, str], ...] | None
    note: str | None


def read_job_patch(body: JsonObject) -> JobPatch:
    """Reads ``{"labels": {...}, "note": "..."}``, or just one of them. Raises InvalidArgument."""
    allowed = " and ".join(_FIELDS)
    wrong = [
        Violation(name[:100], f"this field can't be changed; allowed: {allowed}")
        for name in body
        if name not in _FIELDS
    ]
    if not body:
        wrong.append(Violation("body", f"the body has no field; allowed: {allowed}"))
    labels, note = body.get("labels"), body.get("note")
    texts: dict[str, str] = {}
    if isinstance(labels, dict):
        texts = {key: value for key, value in labels.items() if isinstance(value, str)}
        wrong += check_labels(texts)
    if labels is not None and (not isinstance(labels, dict) or len(texts) < len(labels)):
        wrong.append(
            Violation(
                "labels", f"{describe(labels)} given; allowed: an object whose values are texts"
            )
        )
    if note is not None and not isinstance(note, str):
        wrong.append(Violation("note", f"{describe(note)} given; allowed: a text"))
    elif note is not None and len(note) > MAX_NOTE:
        text = f"{len(note)} characters given; allowed: {MAX_NOTE}"
        wrong.append(Violation("note", text))
    refuse(tuple(wrong))
    return JobPatch(
        None if labels is None else tuple(texts.items()),
        note if isinstance(note, str) else None,
    )
