"""Reads the arguments of a built-in algorithm, as the service checks and its program takes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from footplate_algorithms.algorithms import MAX_SPLIT_SUM, PATHS
from footplate_algorithms.metric_names import XGBOOST, is_eval_metric
from footplate_algorithms.parameters import Kind, Values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from footplate_algorithms.algorithms import Algorithm
    from footplate_algorithms.parameters import Parameter


@dataclass(frozen=True)
class Problem:
    """A fault; ``index`` is the place of the argument, None if it concerns all of them."""

    index: int | None
    message: str


@dataclass
class Arguments:
    """The arguments of a job.

    ``given`` has the values that the job sets, ``values`` also the defaults; ``places`` has the
    index of each. ``unknown`` has the indices and names of arguments that the algorithm lacks.
    """

    given: Values = field(default_factory=Values)
    values: Values = field(default_factory=Values)
    places: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unknown: list[tuple[int, str]] = field(default_factory=list)


def read_arguments(
    algorithm: Algorithm, args: Sequence[str], tuned: Collection[str] = ()
) -> Arguments:
    """Reads arguments; of repeated ones the last counts.

    ``tuned`` are the names of arguments that a tuning job gives to each of its trials.
    """
    read = Arguments()
    index = 0
    while index < len(args):
        index += _read_one(algorithm, args, index, read)
    defaults = {p.name: p.default for p in algorithm.parameters if p.default is not None}
    read.values = Values({**defaults, **read.given})
    unread = {args[problem.index] for problem in read.problems if problem.index is not None}
    read.problems += _missing(algorithm, read, {*tuned, *_named(unread)})
    read.problems += _conflicts(algorithm, read, tuned)
    return read


def _named(args: Collection[str]) -> set[str]:
    return {text.removeprefix("--").partition("=")[0] for text in args}


def _read_one(algorithm: Algorithm, args: Sequence[str], index: int, read: Arguments) -> int:
    """Reads the argument at ``index``; returns how many texts it takes: 1, or 2 with a value."""
    text = args[index]
    name, equals, value = text.removeprefix("--").partition("=")
    if not text.startswith("--") or not name:
        read.problems.append(Problem(index, f"{text!r} given; allowed: --NAME=VALUE"))
        return 1
    parameter = algorithm.find(name)
    follows = args[index + 1] if index + 1 < len(args) else None
    separate = not equals and follows is not None and not follows.startswith("--")
    if parameter is None:
        read.unknown.append((index, name))
        return 2 if separate else 1
    if parameter.kind is Kind.FLAG and not equals and not _is_flag_value(parameter, follows):
        _keep(parameter, "true", index, read)
        return 1
    if not equals and not separate:
        message = f"--{name} given without a value; allowed: {parameter.allowed}"
        read.problems.append(Problem(index, message))
        return 1
    _keep(parameter, value if equals else str(follows), index, read)
    return 1 if equals else 2


def _is_flag_value(parameter: Parameter, follows: str | None) -> bool:
    try:
        return follows is not None and isinstance(parameter.read(follows), bool)
    except ValueError:
        return False


def _keep(parameter: Parameter, text: str, index: int, read: Arguments) -> None:
    try:
        read.given[parameter.name] = parameter.read(text)
        read.places[parameter.name] = index
    except ValueError as error:
        read.problems.append(Problem(index, f"--{parameter.name}: {error}"))


def _missing(algorithm: Algorithm, read: Arguments, tuned: Collection[str]) -> Iterator[Problem]:
    names = [p.name for p in algorithm.parameters if p.required]
    missing = [f"--{name}" for name in names if name not in read.given and name not in tuned]
    if missing:
        yield Problem(None, f"required by {algorithm.name}: {', '.join(missing)}")


def _conflicts(algorithm: Algorithm, read: Arguments, tuned: Collection[str]) -> Iterator[Problem]:
    given, values = read.given, read.values
    if algorithm.find("preprocess") is not None:
        yield from _split_conflicts(read)
    objective = str(values.get("objective", ""))
    classes = "num_class" in given or "num_class" in tuned
    if objective.startswith("multi:") and not classes:
        yield Problem(read.places.get("objective"), f"--objective={objective} needs --num_class")
    if "num_class" in given and not objective.startswith("multi:"):
        said = f"--num_class given with --objective={objective}; allowed with multi:softmax and "
        yield Problem(read.places["num_class"], f"{said}multi:softprob")
    metric = given.get("eval_metric")
    if metric is not None and not is_eval_metric(str(metric)):
        said = f"--eval_metric: {metric!r} given; allowed: one of {', '.join(XGBOOST)}"
        yield Problem(read.places["eval_metric"], said)


def _split_conflicts(read: Arguments) -> Iterator[Problem]:
    given, values = read.given, read.values
    for split, path in zip(("validation_split", "test_split"), PATHS[1:], strict=True):
        if split in given and not values.get("preprocess"):
            said = f"--{split} given without --preprocess, which does the split"
            yield Problem(read.places[split], f"{said}; add --preprocess, or give --{path}")
        elif split in given and path in given and given[split]:
            said = f"--{split} given beside --{path}; allowed: one of them"
            yield Problem(read.places[split], said)
    total = sum(splits(values))
    if values.get("preprocess") and total > MAX_SPLIT_SUM + 1e-9:
        said = f"--validation_split and --test_split are {total:g} together"
        place = read.places.get("test_split", read.places.get("validation_split"))
        yield Problem(place, f"{said}; allowed: at most {MAX_SPLIT_SUM:g}")


def splits(values: Values) -> tuple[float, float]:
    """Returns the shares of training data for validation and test; 0 if a separate file serves.

    Without preprocessing both are 0.
    """
    if not values.get("preprocess"):
        return 0.0, 0.0
    validation = 0.0 if "validation_data_path" in values else values.number("validation_split")
    test = 0.0 if "test_data_path" in values else values.number("test_split")
    return validation, test
