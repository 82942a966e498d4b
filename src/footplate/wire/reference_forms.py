"""Patterns of resource names that both APIs share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Form:
    """``shown`` is how messages write it."""

    shown: str
    pattern: re.Pattern[str]

    def check(self, given: str | None, field: str) -> Iterator[Violation]:
        """An empty text is none at all."""
        if given and not self.pattern.fullmatch(given):
            yield Violation(field, f"{describe(given)} given; allowed: {self.shown}")


def resource(shown: str) -> Form:
    """Each word in capitals stands for one segment of the name."""
    return Form(shown, re.compile(re.sub("[A-Z_]+", r"[^/\\s]+", shown)))


LOCATION = "projects/PROJECT/locations/LOCATION"
ACCOUNT = Form(
    "the e-mail address of a service account", re.compile(r"[^@\s]+@[^@\s]+|[0-9]{1,30}")
)
KEY = resource(f"{LOCATION}/keyRings/KEY_RING/cryptoKeys/KEY")
