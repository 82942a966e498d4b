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
    if "token_file" not in table and not at_socket:
        rule = "the path of a file with a JWT of Slurm"
        yield Violation(f"{place}.token_file", f"required beside slurmrestd; allowed: {rule}")
    if "user" not in table:
        is_for = "the token is for"
        if at_socket and "token_file" not in table:
            is_for = f"slurmrestd at {address} runs as: jobs of all others are left alone"
        text = f"required beside slurmrestd; allowed: the user of Slurm that {is_for}"
        yield Violation(f"{place}.user", text)
    for name, options in machines.items():
        wrong = check_options(options)
        if wrong is not None:
            yield Violation(f"{place}.machines.{name}", wrong)
