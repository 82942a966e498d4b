"""Rules for hyperparameter searches that both APIs share.

Source: the API reference of HyperparameterSpec and ParameterSpec, and the service's pages on
hyperparameter tuning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from footplate.domain.errors import Violation
from footplate.domain.formatting import quoted

MAX_DISCRETE_VALUES = 1000
MAX_MODELLED_CATEGORIES = 10_000
"""Each is a column of the model, which a suggestion looks at thousands of times."""
MAX_CATEGORY_BYTES = 100_000
"""Linux starts no program with an argument of 128 KiB."""
_LONGEST_CHARACTER_BYTES = 4
_INT64 = 1 << 63
MAX_METRIC_LENGTH = 1024
"""No program's report of a longer one would be kept."""
MAX_NAME_LENGTH = 1024


def check_parameter_names(
    names: Sequence[tuple[str, str]], *, for_programs: bool = True
) -> Iterator[Violation]:
    """Yields faults in parameter names, which reach a program as ``--NAME=VALUE``.

    ``names`` has each name with its field.
    """
    first: dict[str, str] = {}
    for field, name in names:
        if not name:
            yield Violation(
                field, "required: the parameter's name, which the program gets as --NAME=VALUE"
            )
        elif "=" in name or any(c.isspace() or not c.isprintable() for c in name):
            allowed = "a name without the character = and without spaces"
            yield Violation(field, f"{quoted(name)} given; allowed: {allowed}")
        elif len(name) > MAX_NAME_LENGTH:
            said = f"{len(name)} characters given; allowed: at most {MAX_NAME_LENGTH}"
            yield Violation(field, said)
        elif for_programs and name.startswith("-"):
            bare = quoted(name.lstrip("-") or "a")
            said = f"{quoted(name)} given; allowed: {bare}, which the program gets as --NAME=VALUE"
            yield Violation(field, said)
        elif name in first:
            other = first[name]
            yield Violation(field, f"{quoted(name)} given, as in {other}; allowed: unique names")
        else:
            first[name] = field


def check_range(
    low: float, high: float, low_field: str, high_field: str, *, integral: bool, log_scale: str = ""
) -> Iterator[Violation]:
    """Yields faults in the bounds of a range; a range of one value is allowed.

    ``log_scale`` is the name of the scale if it is logarithmic.
    """
    at_low = _not_integral(low) if integral else []
    at_high = _not_integral(high) if integral else []
    if low > high:
        at_high.append(f"allowed: at least {_number(low)}, the lower bound")
    if log_scale and low <= 0:
        at_low.append(f"allowed with {log_scale}: more than 0")
    for bound, field, allowed in ((low, low_field, at_low), (high, high_field, at_high)):
        if allowed:
            yield Violation(field, f"{_number(bound)} given; {'; '.join(allowed)}")


def _not_integral(bound: float) -> list[str]:
    """Returns what is allowed for a bound that isn't a 64-bit integer; empty: it is one.

    Vertex AI's integer bounds have 64 bits, and so have those of ml v1.
    """
    if not float(bound).is_integer():
        return ["allowed for an integer: a whole number"]
    if not -_INT64 <= bound < _INT64:
        return ["allowed for an integer: a whole number of 64 bits"]
    return []


def _number(bound: float) -> str:
    """Formats a number in full, so that different bounds look different."""
    return repr(bound).removesuffix(".0")


def check_discrete_values(
    values: Sequence[float | None], field: str, *, least_step: float = 0, log_scale: str = ""
) -> Iterator[Violation]:
    """Yields faults in the values of a discrete parameter.

    ``least_step`` is the least distance between two values; 0: they must just increase. None stands
    for a value that isn't a number, which is reported elsewhere.
    """
    if not values:
        yield Violation(field, f"required: 1 to {MAX_DISCRETE_VALUES} numbers, increasing")
    if len(values) > MAX_DISCRETE_VALUES:
        yield Violation(field, f"{len(values)} given; allowed: at most {MAX_DISCRETE_VALUES}")
        return
    numbers = [(index, value) for index, value in enumerate(values) if value is not None]
    for (_, one), (index, next_one) in pairwise(numbers):
        if next_one <= one:
            said = f"{next_one:g} given, behind {one:g}; allowed: increasing numbers"
            yield Violation(f"{field}[{index}]", said)
        elif next_one - one < least_step:
            said = f"{next_one:.17g} given; allowed: at least {least_step:g} more than {one:.17g}"
            yield Violation(f"{field}[{index}]", said)
    if log_scale and numbers and numbers[0][1] <= 0:
        index, least = numbers[0]
        said = f"{least:g} given; allowed with {log_scale}: more than 0"
        yield Violation(f"{field}[{index}]", said)


def check_categories(count: int, field: str) -> Iterator[Violation]:
    """Yields a fault if a search with a model has too many categories.

    ``count`` is the number of values of all categorical parameters together.
    """
    if count > MAX_MODELLED_CATEGORIES:
        allowed = f"at most {MAX_MODELLED_CATEGORIES}, or algorithm RANDOM_SEARCH or GRID_SEARCH"
        said = f"{count} categorical values in all; allowed: {allowed}"
        yield Violation(field, said)


def check_category_lengths(values: Sequence[str | None], field: str) -> Iterator[Violation]:
    """Yields a fault for each category that is too long.

    None stands for a value that isn't text, which is reported elsewhere.
    """
    for index, value in enumerate(values):
        if value is None or len(value) <= MAX_CATEGORY_BYTES // _LONGEST_CHARACTER_BYTES:
            continue
        length = len(value.encode("utf-8", "surrogatepass"))
        if length > MAX_CATEGORY_BYTES:
            said = f"{length} bytes given; allowed: at most {MAX_CATEGORY_BYTES}"
            yield Violation(f"{field}[{index}]", said)


def check_metric_length(name: str, field: str) -> Iterator[Violation]:
    if len(name) > MAX_METRIC_LENGTH:
        said = f"{len(name)} characters given; allowed: at most {MAX_METRIC_LENGTH}"
        yield Violation(field, said)


def check_trial_counts(
    trials: int | None, parallel: int | None, failed: int, fields: tuple[str, str, str]
) -> Iterator[Violation]:
    """Yields faults in the numbers of trials.

    ``failed`` is how many trials may fail; 0 leaves this to the service. ``fields`` are the names
    in the order of the other arguments. None: not given, or not a number.
    """
    for count, field in ((trials, fields[0]), (parallel, fields[1])):
        if count is None:
            yield Violation(field, "required: at least 1")
        elif count < 1:
            yield Violation(field, f"{count} given; allowed: at least 1")
    if failed < 0:
        yield Violation(fields[2], f"{failed} given; allowed: 0 (then the service decides) or more")
    elif trials is not None and failed > trials >= 1:
        said = f"{failed} given; allowed: at most {trials}, the number of trials"
        yield Violation(fields[2], said)
