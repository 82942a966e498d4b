"""Wheels of the service's own packages that programs of jobs need."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import BinaryIO


@dataclass(frozen=True)
class Wheel:
    """A wheel of an installed package; ``name`` is the name of its file."""

    name: str
    content: bytes = field(repr=False)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def open(self) -> BinaryIO:
        return BytesIO(self.content)
