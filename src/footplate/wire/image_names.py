"""Checks names of container images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.image_reference import MalformedReference, parse_reference
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = "REGISTRY/REPOSITORY:TAG, such as gcr.io/my-project/trainer:v1"


def check_image(given: str | None, field: str) -> Iterator[Violation]:
    """An empty text is none at all."""
    if not given:
        return
    try:
        parse_reference(given)
    except MalformedReference as error:
        text = f"{describe(given)} given, which names no image: {error}; allowed: {EXAMPLE}"
        yield Violation(field, text)
