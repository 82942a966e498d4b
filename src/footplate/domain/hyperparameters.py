"""What a search over hyperparameters may be asked for, in either dialect.

Source: the API reference of HyperparameterSpec and ParameterSpec, and the service's pages on
hyperparameter tuning.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.words import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_DISCRETE_VALUES = 1000


def check_parameter_names(names: Sequence[tuple[str, str]]) -> Iterator[Violation]:
    """``names``: each with its field. They reach the program as ``--NAME=VALUE``."""
    first: dict[str, str] = {}
    for field, name in names:
        if not name:
            yield Violation(field, "required: the name, which the program gets as --NAME=VALUE")
        elif "=" in name or any(c.isspace() or not c.isprintable() for c in name):
            allowed = "a name without = and white space"
            yield Violation(field, f"{quoted(name)} given; allowed: {allowed}")
        elif name in first:
            other = first[name]
            yield Violation(field, f"{quoted(name)} given, as in {other}; allowed: unique names")
        else:
            first[name] = field


def check_range(
    low: float, high: float, low_field: str, high_field: str, *, integral: bool, log_scale: str = ""
) -> Iterator[Violation]:
    """``log_scale``: the name of the scale, if it is one of the logarithmic ones.

    A range of one value is allowed.
    """
    for bound, field in ((low, low_field), (high, high_field)):
        if integral and not float(bound).is_integer():
            yield Violation(field, f"{bound:g} given; allowed for an integer: a whole number")
    if low > high:
        yield Violation(high_field, f"{high:g} given; allowed: at least {low:g}, the lower bound")
    if log_scale and low <= 0:
        yield Violation(low_field, f"{low:g} given; allowed with {log_scale}: more than 0")


def check_discrete_values(
    values: Sequence[float], field: str, *, least_step: float = 0, log_scale: str = ""
) -> Iterator[Violation]:
    """``least_step``: how far apart they are, at least; 0: just increasing."""
    if not values:
        yield Violation(field, f"required: 1 to {MAX_DISCRETE_VALUES} numbers, increasing")
    if len(values) > MAX_DISCRETE_VALUES:
        yield Violation(field, f"{len(values)} given; allowed: at most {MAX_DISCRETE_VALUES}")
        return
    for index, (one, next_one) in enumerate(pairwise(values), start=1):
        if next_one <= one:
            said = f"{next_one:g} given, behind {one:g}; allowed: increasing numbers"
            yield Violation(f"{field}[{index}]", said)
        elif next_one - one < least_step:
            said = f"{next_one:.17g} given; allowed: at least {least_step:g} more than {one:.17g}"
            yield Violation(f"{field}[{index}]", said)
    if log_scale and values and values[0] <= 0:
        said = f"{values[0]:g} given; allowed with {log_scale}: more than 0"
        yield Violation(f"{field}[0]", said)


def check_trial_counts(
    trials: int, parallel: int, failed: int, fields: tuple[str, str, str]
) -> Iterator[Violation]:
    """``failed``: how many may fail, 0 leaves that to the service; ``fields`` in this order."""
    for count, field in ((trials, fields[0]), (parallel, fields[1])):
        if count < 1:
            yield Violation(field, f"{count} given; allowed: at least 1")
    if failed < 0:
        yield Violation(fields[2], f"{failed} given; allowed: 0 (the service decides) or more")
    elif failed > max(trials, 0):
        said = f"{failed} given; allowed: at most {trials}, the number of trials"
        yield Violation(fields[2], said)
