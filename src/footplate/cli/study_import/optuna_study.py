"""Reads a study of Optuna with Optuna itself, which the extra ``optuna`` installs."""

from __future__ import annotations

import math
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState
from sqlalchemy.exc import SQLAlchemyError

from footplate.cli.study_import.finished_study import (
    Choices,
    FinishedStudy,
    FinishedTrial,
    Measured,
    Span,
    whole,
)
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

    from footplate.cli.study_import.finished_study import Domain, Value

MOST_VALUES = 1000
"""Of a discrete parameter. Source: DiscreteValueSpec."""
_DIGITS = 12
"""To which steps are exact: 0.1 + 0.2 is to be 0.3."""
_BROKEN = (
    *(SQLAlchemyError, optuna.exceptions.OptunaError),
    *(KeyError, IndexError, TypeError, ValueError, AttributeError),
)
"""What Optuna raises of a file that isn't its own."""


def read_optuna(
    path: Path, study_name: str, metrics: Sequence[str], *, journal: bool
) -> FinishedStudy:
    """The study of this name; the only one for an empty name.

    ``metrics``: names for its objectives, over its own ones.

    Raises:
        InvalidArgument: it isn't Optuna's, or of another version; there is no such study, or
            there are several; another number of names than of objectives.
    """
    with tempfile.TemporaryDirectory(prefix="footplate-import-") as folder:
        copy = Path(shutil.copy(path, folder))  # Optuna writes to what it opens
        try:
            with _opened(copy, journal=journal) as storage:
                name = _choose(path, optuna.get_all_study_names(storage), study_name)
                return finished(optuna.load_study(study_name=name, storage=storage), metrics)
        except RuntimeError as error:  # of a database of another version
            way_out = f"`optuna storage upgrade --storage sqlite:///{path}` makes it one"
            reason = str(error).split(". ")[0]
            raise InvalidArgument(f"{path} is of another version: {reason}; {way_out}") from None
        except _BROKEN as error:
            reason = f"{type(error).__name__}: {error}".split("\n")[0]
            raise InvalidArgument(f"{path} is no storage of Optuna: {reason}") from None


@contextmanager
def _opened(path: Path, *, journal: bool) -> Iterator[BaseStorage]:
    if journal:
        yield JournalStorage(JournalFileBackend(str(path)))
        return
    database = RDBStorage(f"sqlite:///{path}", skip_table_creation=True)
    try:
        yield database
    finally:
        database.remove_session()
        database.engine.dispose()


def _choose(path: Path, names: list[str], wanted: str) -> str:
    if wanted in names:
        return wanted
    choices = ", ".join(names) or "none"
    if wanted:
        raise InvalidArgument(f"--study-name: {wanted!r} given; {path} has: {choices}")
    if len(names) != 1:
        raise InvalidArgument(
            f"{path} has {len(names)} studies; name one by --study-name: {choices}"
        )
    return names[0]


def finished(study: Study, metrics: Sequence[str]) -> FinishedStudy:
    """Raises InvalidArgument: another number of names than of objectives."""
    names, notes = _metrics(study, metrics)
    trials = study.get_trials(deepcopy=False)
    ended = [t for t in trials if t.state.is_finished()]
    if left := len(trials) - len(ended):
        notes.append(f"{left} of {len(trials)} trials are left out: they haven't ended")
    domains = _domains(ended, notes)
    made = tuple(_trial(t, names, domains) for t in ended)
    pruned = sum(t.state is TrialState.PRUNED for t in ended)
    if pruned:
        notes.append(f"{pruned} pruned trials count with what they reported last")
    goals = {name: direction.name for name, direction in zip(names, study.directions, strict=True)}
    return whole(FinishedStudy(goals, made, domains, notes=tuple(notes)))


def _metrics(study: Study, given: Sequence[str]) -> tuple[list[str], list[str]]:
    count = len(study.directions)
    if given and len(given) != count:
        raise InvalidArgument(f"--metric: {len(given)} given; allowed: {count}, as in the study")
    if names := list(given or study.metric_names or ()):
        return names, []
    names = ["value"] if count == 1 else [f"value_{i}" for i in range(count)]
    listed_names = ", ".join(names)
    return names, [f"the study names no metric: called {listed_names}; --metric names it otherwise"]


def _domains(trials: Sequence[FrozenTrial], notes: list[str]) -> dict[str, Domain]:
    """Of each parameter; where a study has changed a range, what holds all of them."""
    seen: dict[str, list[BaseDistribution]] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            known = seen.setdefault(name, [])
            if distribution not in known:
                known.append(distribution)
    return {
        name: _union(name, [_domain(name, each, notes) for each in known], notes)
        for name, known in seen.items()
    }


def _domain(name: str, distribution: BaseDistribution, notes: list[str]) -> Domain:
    match distribution:
        case CategoricalDistribution():
            return Choices(_choices(distribution.choices))
        case IntDistribution(low=low, high=high, log=log, step=step):
            found = Span(low, high, integral=True, log=log, step=None if step == 1 else step)
        case FloatDistribution(low=low, high=high, log=log, step=step):
            found = Span(low, high, log=log, step=step)
        case _:  # Optuna turns those of older versions into these when it reads them
            raise TypeError(f"{name} is of {type(distribution).__name__}")
    return found if found.step is None else _stepped(name, found, notes)


def _choices(choices: Sequence[object]) -> tuple[Value, ...]:
    """Numbers in their order where there are only numbers; else texts."""
    numbers = [choice for choice in choices if _is_number(choice)]
    if numbers and len(numbers) == len(choices):
        return tuple(sorted(set(numbers)))
    return tuple(dict.fromkeys(_text(choice) for choice in choices))


def _is_number(choice: object) -> TypeGuard[float]:
    return isinstance(choice, int | float) and not isinstance(choice, bool)


def _text(choice: object) -> str:
    """As a command line would say it: true, none, adam."""
    if choice is None or isinstance(choice, bool):
        return str(choice).lower()
    return str(choice)


def _stepped(name: str, span: Span, notes: list[str]) -> Domain:
    """Its values one by one; with too many of them the whole span."""
    step = span.step or 1.0
    count = math.floor((span.high - span.low) / step + 1e-8) + 1
    if count > MOST_VALUES:
        notes.append(f"parameter {name!r} has {count} steps, more than {MOST_VALUES}: a range")
        return Span(span.low, span.high, span.integral, span.log)
    values = (round(span.low + index * step, _DIGITS) for index in range(count))
    return Choices(tuple(int(value) if span.integral else value for value in values))


def _union(name: str, domains: Sequence[Domain], notes: list[str]) -> Domain:
    if len(domains) == 1:
        return domains[0]
    notes.append(f"parameter {name!r} has changed during the study: all its values are allowed")
    spans = [domain for domain in domains if isinstance(domain, Span)]
    if len(spans) == len(domains):
        low, high = min(s.low for s in spans), max(s.high for s in spans)
        return Span(low, high, all(s.integral for s in spans), all(s.log for s in spans))
    values = [v for domain in domains for v in _listed(domain)]
    return Choices(_choices(values))


def _listed(domain: Domain) -> tuple[Value, ...]:
    return domain.values if isinstance(domain, Choices) else (domain.low, domain.high)


def _trial(
    trial: FrozenTrial, names: Sequence[str], domains: Mapping[str, Domain]
) -> FinishedTrial:
    parameters = {name: _value(value, domains[name]) for name, value in trial.params.items()}
    curve = tuple(_curve(trial, names))
    final, reason = _final(trial, names, curve)
    return FinishedTrial(parameters, final, reason, curve)


def _value(value: object, domain: Domain) -> Value:
    """As the domain has it: steps are rounded there."""
    if not _is_number(value):
        return _text(value)
    if isinstance(domain, Span):
        return value
    numbers = [each for each in domain.values if not isinstance(each, str)]
    return min(numbers, key=lambda each: abs(each - value)) if numbers else _text(value)


def _curve(trial: FrozenTrial, names: Sequence[str]) -> Iterator[Measured]:
    """Only studies of one objective have any."""
    for step, value in sorted(trial.intermediate_values.items()):
        if len(names) == 1 and math.isfinite(value):
            yield Measured({names[0]: value}, step)


def _final(
    trial: FrozenTrial, names: Sequence[str], curve: Sequence[Measured]
) -> tuple[Measured | None, str]:
    if trial.state is TrialState.FAIL:
        return None, "it failed"
    if trial.state is TrialState.PRUNED:
        return (curve[-1], "") if curve else (None, "it was pruned before it reported a number")
    values = trial.values or []
    if len(values) != len(names) or not all(map(math.isfinite, values)):
        return None, "its value isn't a number"
    step = curve[-1].step if curve else 0
    return Measured(dict(zip(names, values, strict=True)), step), ""
