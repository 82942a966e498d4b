"""A study made elsewhere, as its file describes it, and which of its parameters depend on which."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.wire.json_text import JsonObject

Value: TypeAlias = str | float | int


@dataclass(frozen=True)
class Span:
    """Numbers from ``low`` to ``high``, both included; ``step`` None: all between them."""

    low: float
    high: float
    integral: bool = False
    log: bool = False
    step: float | None = None


@dataclass(frozen=True)
class Choices:
    """Numbers only, or texts only."""

    values: tuple[Value, ...]


Domain: TypeAlias = Span | Choices


@dataclass(frozen=True)
class Measured:
    """Finite values by the names of metrics."""

    values: Mapping[str, float]
    step: int = 0


@dataclass(frozen=True)
class FinishedTrial:
    """``final`` None: it has no result, for the ``reason``."""

    parameters: Mapping[str, Value]
    final: Measured | None
    reason: str = ""
    curve: tuple[Measured, ...] = ()


@dataclass(frozen=True)
class FinishedStudy:
    """``spec`` is the studySpec where the file has one; else ``domains`` say what it searched."""

    goals: Mapping[str, str]
    """MAXIMIZE or MINIMIZE, by the names of metrics."""
    trials: tuple[FinishedTrial, ...]
    domains: Mapping[str, Domain] = field(default_factory=dict)
    spec: JsonObject | None = None
    notes: tuple[str, ...] = ()
    """What was left out or assumed, one sentence each."""


@dataclass(frozen=True)
class Condition:
    """A parameter is there where ``parent`` has one of ``values``."""

    parent: str
    values: tuple[Value, ...]


def whole(study: FinishedStudy) -> FinishedStudy:
    """The study without what can't be explained: a parameter that only some trials have, though
    no other one tells which. It goes, or the trials that lack it, whichever loses less.
    """
    for name in list(study.domains):
        if name in _lacking(study) and name not in find_conditions(study.domains, study.trials):
            study = _without(study, name)
    return study


def find_conditions(
    domains: Mapping[str, Domain], trials: Sequence[FinishedTrial]
) -> dict[str, Condition]:
    """Of each parameter that depends on another one.

    A parent is a choice that more trials have, with other values where the parameter is there
    than where it isn't. Of several the first one is taken.
    """
    found: dict[str, Condition] = {}
    for child in _counts(trials):
        for parent, domain in domains.items():
            if isinstance(domain, Choices) and (values := _told_by(parent, child, trials)):
                kept = tuple(value for value in domain.values if value in values)
                found[child] = Condition(parent, kept)
                break
    return found


def _told_by(parent: str, child: str, trials: Sequence[FinishedTrial]) -> set[Value]:
    """The parent's values for which the child exists; empty: unknown."""
    having = [trial.parameters for trial in trials if child in trial.parameters]
    lacking = [trial.parameters for trial in trials if child not in trial.parameters]
    if not all(parent in point for point in having):
        return set()
    there = {point[parent] for point in having}
    absent = {point[parent] for point in lacking if parent in point}
    return there if absent and not there & absent else set()


def _counts(trials: Sequence[FinishedTrial]) -> Counter[str]:
    return Counter(name for trial in trials for name in trial.parameters)


def _lacking(study: FinishedStudy) -> set[str]:
    counts = _counts(study.trials)
    return {name for name in study.domains if counts[name] < len(study.trials)}


def _without(study: FinishedStudy, name: str) -> FinishedStudy:
    having = tuple(trial for trial in study.trials if name in trial.parameters)
    missing = len(study.trials) - len(having)
    if missing > len(having):
        note = f"parameter {name!r} is left out: {missing} of {len(study.trials)} trials lack it"
        domains = {key: domain for key, domain in study.domains.items() if key != name}
        trials = tuple(_cut(trial, name) for trial in study.trials)
        return replace(study, domains=domains, trials=trials, notes=(*study.notes, note))
    note = f"trials without parameter {name!r} are left out: {missing} of {len(study.trials)}"
    return replace(study, trials=having, notes=(*study.notes, note))


def _cut(trial: FinishedTrial, name: str) -> FinishedTrial:
    kept = {key: value for key, value in trial.parameters.items() if key != name}
    return replace(trial, parameters=kept)
