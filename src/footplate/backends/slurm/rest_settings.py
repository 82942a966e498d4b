"""Checks what a region's table says of slurmrestd."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from footplate.backends.slurm.rest_job import check_options
from footplate.domain.errors import Violation

RULE = "a URL such as http://10.0.0.6:6820, or unix:/PATH of its socket"
_ADDRESS = re.compile(r"https?://[^/\s?#@]+/?|unix:/[^\s]+")


def is_address(value: object) -> bool:
    if not isinstance(value, str) or _ADDRESS.fullmatch(value) is None:
        return False
    try:
        return value.startswith("unix:") or urlsplit(value).port != 0
    except ValueError:
        return False


def check_together(
    place: str, table: Mapping[str, object], machines: Mapping[str, Sequence[str]]
) -> Iterator[Violation]:
    """Yields conflicts between keys that are each valid. ``machines``: their options."""
    address = table.get("slurmrestd")
    if address is None:
        for key in ("token_file", "user"):
            if key in table:
                yield Violation(f"{place}.{key}", f"{table[key]!r} given without slurmrestd")
        return
    at_socket = str(address).startswith("unix:")
    for key, other, rule in (
        ("token_file", "user", "the path of a file with a JWT of Slurm"),
        ("user", "token_file", "the user of Slurm that the token is for"),
    ):
        if key not in table and (other in table or not at_socket):
            yield Violation(f"{place}.{key}", f"required beside slurmrestd; allowed: {rule}")
    for name, options in machines.items():
        wrong = check_options(options)
        if wrong is not None:
            yield Violation(f"{place}.machines.{name}", wrong)
