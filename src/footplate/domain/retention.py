"""The times for which ended jobs and their logs are kept, by project."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from footplate.domain.errors import InvalidArgument, Violation

ANY_PROJECT = "*"
FOREVER = "forever"
AGE_RULE = "a number with a unit: 45s, 90m, 12h, 30d, 4w"
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_AGE = re.compile(r"([0-9]{1,6})([smhdw])")


def parse_age(text: str) -> timedelta | None:
    """Parses an age such as ``30d`` or ``12h``; None: the text is not an age."""
    found = _AGE.fullmatch(text.strip().lower())
    return None if found is None else timedelta(seconds=int(found[1]) * _UNITS_S[found[2]])


@dataclass(frozen=True)
class KeepTimes:
    """The times for which data is kept after the end of a job, by project; None: for ever."""

    by_project: Mapping[str, timedelta | None] = field(default_factory=dict)

    def of(self, project: str) -> timedelta | None:
        return self.by_project.get(project, self.by_project.get(ANY_PROJECT))


KEEP_ALL = KeepTimes()


def read_keep_times(name: str, value: object) -> KeepTimes:
    """Reads ``30d``, ``ads=30d,*=90d``, or a table such as ``{ads = "30d", "*" = "90d"}``.

    ``name`` is the name of the setting. Raises InvalidArgument with all faults.
    """
    if isinstance(value, dict):
        table: Mapping[str, object] = value
    elif isinstance(value, str) and "=" in value:
        pairs = (part.partition("=") for part in value.split(","))
        table = {project.strip(): age.strip() for project, _, age in pairs}
    else:
        table = {ANY_PROJECT: value}
    if violations := tuple(_bad_ages(name, table)):
        raise InvalidArgument.of(violations)
    ages = {project: str(age).strip() for project, age in table.items()}
    return KeepTimes(
        {project: None if age == FOREVER else parse_age(age) for project, age in ages.items()}
    )


def _bad_ages(name: str, table: Mapping[str, object]) -> Iterator[Violation]:
    for project, age in table.items():
        if not project:
            yield Violation(name, "a project is missing before '='; allowed: PROJECT=AGE, or *=AGE")
        elif not isinstance(age, str) or (age.strip() != FOREVER and parse_age(age) is None):
            key = name if project == ANY_PROJECT else f"{name}.{project}"
            yield Violation(key, f"{age!r} given; allowed: {AGE_RULE}, or {FOREVER}")
