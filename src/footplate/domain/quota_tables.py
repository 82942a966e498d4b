"""Reads the ``[[quotas]]`` tables of the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.quotas import ANY, LIMIT_RULE, Quota, is_limit

_SCOPE = ("project", "region")
"""The keys of a table that are no limits."""


def read_quotas(value: object) -> tuple[Quota, ...]:
    """Reads tables such as ``{project = "ads", region = "*", vcpus = 64, NVIDIA_TESLA_T4 = 4}``.

    The names are checked later, when the catalogue is known.

    Raises InvalidArgument with all faults, TypeError.
    """
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise TypeError("[[quotas]] tables in the file")
    violations = [wrong for index, table in enumerate(value) for wrong in _bad_quota(index, table)]
    if violations:
        raise InvalidArgument.of(tuple(violations))
    return tuple(_quota(table) for table in value)


def _bad_quota(index: int, table: Mapping[str, object]) -> Iterator[Violation]:
    quota = f"quotas[{index}]"
    for name, value in table.items():
        near = get_close_matches(name, _SCOPE, n=1)
        if near and name not in _SCOPE:
            yield Violation(f"{quota}.{name}", f"unknown key; did you mean {near[0]}?")
        elif name not in _SCOPE and not is_limit(value):
            yield Violation(f"{quota}.{name}", f"{value!r} given; allowed: {LIMIT_RULE}")
        if name in _SCOPE and not (isinstance(value, str) and value):
            yield Violation(f"{quota}.{name}", f"{value!r} given; allowed: a name, or *")
    if not table.keys() - set(_SCOPE):
        yield Violation(
            quota, "this table has no limit; allowed: one limit or more, such as vcpus = 64"
        )


def _quota(table: Mapping[str, Any]) -> Quota:
    limits = {name: value for name, value in table.items() if name not in _SCOPE}
    return Quota(table.get("project", ANY), table.get("region", ANY), limits)
