"""The runs of an experiment as a table: columns, conditions, order. Pure."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_AND = re.compile(r"\sAND\s")
_SIGN = re.compile("<=|>=|!=|=|<|>")
LONGEST = 2000
"""Characters of all conditions."""
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_EQUALITY = ("=", "!=")


@dataclass(frozen=True)
class Run:
    """A run of an experiment. ``curves`` names its run in a TensorBoard; '' if it has none."""

    name: str
    title: str
    state: str = ""
    created: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    curves: str = ""

    def value(self, column: str) -> Any:
        """Returns the run's metric, parameter, name or state; None if it has none of these."""
        own = {"run": self.title, "state": self.state, "created": self.created}
        for values in (self.metrics, self.params, own):
            if column in values:
                return values[column]
        return None


def columns(values: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns each name once, in the order of its first use."""
    return list(dict.fromkeys(name for each in values for name in each))


def choose(runs: Sequence[Run], text: str) -> list[Run]:
    """Returns the runs that meet all conditions: ``loss < 0.5 AND rate = 0.1``.

    Text without a comparison is a part of the name. Raises InvalidArgument.
    """
    if len(text) > LONGEST:
        raise InvalidArgument(f"{len(text)} characters given; allowed: at most {LONGEST}")
    conditions = [part.strip() for part in _AND.split(text) if part.strip()]
    return [run for run in runs if all(_fulfils(run, each) for each in conditions)]


def _fulfils(run: Run, condition: str) -> bool:
    found = _SIGN.search(condition, 1)
    name, sign = (condition[: found.start()].strip(), found[0]) if found else ("", "")
    wanted = condition[found.end() :].strip() if found else ""
    if not name or not wanted:
        return condition.lower() in run.title.lower()
    value, limit = run.value(name), _number(wanted.strip("\"'"))
    if value is None:
        return sign == "!="
    number = _number(str(value))
    if isinstance(number, float) and isinstance(limit, float):
        return _COMPARE[sign](number, limit)
    if sign not in _EQUALITY:
        if isinstance(limit, float):
            return False
        raise InvalidArgument(
            f"the condition {condition[:100]!r} compares with a text, not a number; allowed: "
            "= and !="
        )
    return _COMPARE[sign](str(value), wanted.strip("\"'"))


def order(runs: Sequence[Run], by: str) -> list[Run]:
    """Sorts by a column, descending if ``by`` begins with ``-``; runs without a value come last."""
    column = by.removeprefix("-")
    known = [run for run in runs if run.value(column) is not None]
    unknown = [run for run in runs if run.value(column) is None]
    return sorted(known, key=lambda run: _key(run.value(column)), reverse=by[:1] == "-") + unknown


def _key(value: Any) -> tuple[int, float, str]:
    number = _number(str(value))
    return (0, number, "") if isinstance(number, float) else (1, 0.0, number)


def _number(text: str) -> float | str:
    """Returns the number in ``text``; ``text`` itself if it is none, or NaN (no order)."""
    try:
        number = float(text)
    except ValueError:
        return text
    return text if number != number else number
