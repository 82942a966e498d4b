"""Rules for labels that both APIs share."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.formatting import listed
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_LABELS = 64
MAX_LENGTH = 64
_RULE = "at most 64 lowercase letters, digits, underscores and dashes"


def check_labels(labels: Mapping[str, str], field: str = "labels") -> Iterator[Violation]:
    """Letters of any script that aren't capitals count, as Google says."""
    wrong = [] if len(labels) <= MAX_LABELS else [f"{len(labels)} given; allowed: {MAX_LABELS}"]
    if keys := [describe(key) for key in labels if not key or not _fits(key)]:
        wrong.append(f"key {listed(keys)} given; allowed: {_RULE}, at least one")
    if wrong:
        yield Violation(field, "; ".join(wrong))
    for key, value in labels.items():
        if key and _fits(key) and not _fits(value):
            yield Violation(f"{field}.{key}", f"{describe(value)} given; allowed: {_RULE}")


def _fits(text: str) -> bool:
    return len(text) <= MAX_LENGTH and all(c in "_-" or _small(c) for c in text)


def _small(character: str) -> bool:
    category = unicodedata.category(character)
    return category in {"Ll", "Lo", "Lm", "Mn", "Mc"} or category.startswith("N")
