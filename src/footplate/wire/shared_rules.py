"""Rules of fields that both APIs have: names of resources, images, labels, disks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from footplate.domain.errors import Violation
from footplate.domain.formatting import listed
from footplate.domain.image_reference import MalformedReference, parse_reference
from footplate.domain.start_limits import MAX_WORD_BYTES
from footplate.domain.tuning.progress import MOST_AT_ONCE
from footplate.wire.json_text import describe


def parallel_warnings(
    parallel_field: str, parallel: int, trials_field: str, trials: int
) -> Iterator[str]:
    """Yields warnings about parallel trials; ``trials`` is 0 if the request lacks it."""
    if 0 < trials < parallel:
        count = min(trials, MOST_AT_ONCE)
        at_once = "1 trial runs" if count == 1 else f"{count} trials run"
        yield f"{parallel_field} is {parallel}, but {trials_field} is {trials}: {at_once} at once"
    elif parallel > MOST_AT_ONCE:
        yield f"{parallel_field} is {parallel}, but at most {MOST_AT_ONCE} trials run at once"


MIN_DISK_GB = 10
MAX_DISK_GB = 65_536
"""The bounds of Compute Engine's boot disks."""


def check_disk(
    kind: str | None, size_gb: int | None, types: Sequence[str], field: str
) -> Iterator[Violation]:
    """Yields faults of a disk; ``types`` are allowed. No type, or 0 GB, means the default."""
    if kind and kind not in types:
        allowed = ", ".join(types)
        yield Violation(f"{field}.bootDiskType", f"{describe(kind)} given; allowed: {allowed}")
    if size_gb and not MIN_DISK_GB <= size_gb <= MAX_DISK_GB:
        allowed = f"{MIN_DISK_GB} to {MAX_DISK_GB} GB, or 0 for the default of 100"
        yield Violation(f"{field}.bootDiskSizeGb", f"{size_gb} given; allowed: {allowed}")


def check_words(words: Sequence[str] | None, field: str) -> Iterator[Violation]:
    """Yields violations for arguments that are too long for Linux to start a program."""
    for index, word in enumerate(words or ()):
        yield from check_word(word, f"{field}[{index}]")


def check_word(word: str, field: str) -> Iterator[Violation]:
    """Yields a violation if an argument, or a variable with its name, is too long."""
    size = len(word.encode(errors="surrogatepass"))
    if size > MAX_WORD_BYTES:
        limit = f"{size:,} bytes given; allowed: at most {MAX_WORD_BYTES:,}, the limit of Linux"
        yield Violation(field, f"{limit}. Put the text into a file in a bucket")


MAX_LABELS = 64
MAX_LENGTH = 64
_RULE = "at most 64 lowercase letters, digits, underscores and dashes"


def check_labels(labels: Mapping[str, str], field: str = "labels") -> Iterator[Violation]:
    """Yields faults of labels; letters of any script are allowed, except capitals."""
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


EXAMPLE = "REGISTRY/REPOSITORY:TAG, such as gcr.io/my-project/trainer:v1"


def check_image(given: str | None, field: str) -> Iterator[Violation]:
    """Yields a fault if a text isn't an image's name; an empty text counts as none."""
    if not given:
        return
    try:
        parse_reference(given)
    except MalformedReference as error:
        text = (
            f"{describe(given)} given, which is not the name of an image: {error}; "
            f"allowed: {EXAMPLE}"
        )
        yield Violation(field, text)


def describe_account(field: str) -> str:
    return (
        f"{field} only asks for access to this service's API; the server's setting api_access "
        "grants access by project"
    )


@dataclass(frozen=True)
class Form:
    """A form that names must have; ``shown`` is its spelling in messages."""

    shown: str
    pattern: re.Pattern[str]

    def check(self, given: str | None, field: str) -> Iterator[Violation]:
        """Yields a violation if a text doesn't have the form; an empty text counts as none."""
        if given and not self.pattern.fullmatch(given):
            yield Violation(field, f"{describe(given)} given; allowed: {self.shown}")


def resource(shown: str) -> Form:
    """Makes a form in which each word in capitals stands for one segment of a name."""
    return Form(shown, re.compile(re.sub("[A-Z_]+", r"[^/\\s]+", shown)))


LOCATION = "projects/PROJECT/locations/LOCATION"
ACCOUNT = Form(
    "the e-mail address of a service account", re.compile(r"[^@\s]+@[^@\s]+|[0-9]{1,30}")
)
KEY = resource(f"{LOCATION}/keyRings/KEY_RING/cryptoKeys/KEY")
