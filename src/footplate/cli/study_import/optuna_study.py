"""Converts a stored Optuna study into a finished study.

Source: optuna.distributions and optuna.trial of Optuna 4 and 5.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate.cli.study_import.finished_study import (
    Choices,
    FinishedStudy,
    FinishedTrial,
    Measured,
    Span,
)
from footplate.cli.study_import.parameter_conditions import whole
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from footplate.cli.study_import.finished_study import Domain, Value

MOST_VALUES = 1000
"""Of a discrete parameter. Source: DiscreteValueSpec."""
_DIGITS = 12
"""To which steps are exact: 0.1 + 0.2 is to be 0.3."""


@dataclass(frozen=True)
class StoredTrial:
    """``state``: COMPLETE, PRUNED, FAIL, RUNNING or WAITING. Numbers may be infinite or nan."""

    number: int
    state: str
    parameters: Mapping[str, tuple[float, str]]
    """Optuna's own number for the value, and the distribution as JSON."""
    values: tuple[float, ...]
    reported: Mapping[int, float]
    """By step."""


@dataclass(frozen=True)
class StoredStudy:
    name: str
    directions: tuple[str, ...]
    """MINIMIZE or MAXIMIZE of each objective."""
    metric_names: tuple[str, ...]
    """Empty: it has none."""
    trials: tuple[StoredTrial, ...]


def finished(stored: StoredStudy, metrics: Sequence[str]) -> FinishedStudy:
    """``metrics``: names for its objectives, over its own ones.

    Raises:
        InvalidArgument: another number of names than of objectives; what isn't Optuna's.
    """
    names, notes = _metrics(stored, metrics)
    ended = [t for t in stored.trials if t.state in ("COMPLETE", "PRUNED", "FAIL")]
    if left := len(stored.trials) - len(ended):
        notes.append(f"{left} of {len(stored.trials)} trials are left out: they haven't ended")
    domains = _domains(ended, notes)
    trials = tuple(_trial(t, names, domains) for t in ended)
    pruned = sum(t.state == "PRUNED" for t in ended)
    if pruned:
        notes.append(f"{pruned} pruned trials count with what they reported last")
    goals = dict(zip(names, stored.directions, strict=True))
    return whole(FinishedStudy(goals, trials, domains, notes=tuple(notes)))


def _metrics(stored: StoredStudy, given: Sequence[str]) -> tuple[list[str], list[str]]:
    count = len(stored.directions)
    if given and len(given) != count:
        raise InvalidArgument(f"--metric: {len(given)} given; allowed: {count}, as in the study")
    if names := list(given or stored.metric_names):
        return names, []
    names = ["value"] if count == 1 else [f"value_{i}" for i in range(count)]
    told = ", ".join(names)
    return names, [f"the study names no metric: called {told}; --metric names it otherwise"]


def _domains(trials: Sequence[StoredTrial], notes: list[str]) -> dict[str, Domain]:
    """Of each parameter; where a study has changed a range, what holds all of them."""
    seen: dict[str, dict[str, Domain]] = {}
    for trial in trials:
        for name, (_, text) in trial.parameters.items():
            domains = seen.setdefault(name, {})
            if text not in domains:
                domains[text] = _domain(name, text, notes)
    return {name: _union(name, list(each.values()), notes) for name, each in seen.items()}


def _domain(name: str, text: str, notes: list[str]) -> Domain:
    kind, about = _distribution(name, text)
    try:
        if kind == "CategoricalDistribution":
            return Choices(_choices(about["choices"]))
        integral = kind == "IntDistribution"
        step = about.get("step")
        found = Span(
            low=float(about["low"]),
            high=float(about["high"]),
            integral=integral,
            log=bool(about.get("log")),
            step=None if step is None or (integral and step == 1) else float(step),
        )
    except (KeyError, TypeError, ValueError):
        raise InvalidArgument(f"parameter {name!r}: {text[:200]!r} is no distribution") from None
    return found if found.step is None else _stepped(name, found, notes)


def _distribution(name: str, text: str) -> tuple[str, dict[str, Any]]:
    try:
        document = json.loads(text)
        kind, about = document["name"], dict(document["attributes"])
    except (ValueError, KeyError, TypeError):
        raise InvalidArgument(f"parameter {name!r}: {text[:200]!r} is no distribution") from None
    known = ("FloatDistribution", "IntDistribution", "CategoricalDistribution")
    if kind not in known:
        allowed = (
            f"allowed: {', '.join(known)}; `optuna storage upgrade` turns older ones into them"
        )
        raise InvalidArgument(f"parameter {name!r} is of {kind!r}; {allowed}")
    return kind, about


def _choices(given: object) -> tuple[Value, ...]:
    """Numbers in their order where there are only numbers; else texts."""
    choices = list(given) if isinstance(given, list) else []
    if choices and all(_is_number(choice) for choice in choices):
        return tuple(sorted(set(choices)))
    return tuple(dict.fromkeys(_text(choice) for choice in choices))


def _is_number(choice: object) -> bool:
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
    trial: StoredTrial, names: Sequence[str], domains: Mapping[str, Domain]
) -> FinishedTrial:
    parameters = {
        name: _value(name, number, text, domains[name])
        for name, (number, text) in trial.parameters.items()
    }
    curve = tuple(_curve(trial, names))
    final, reason = _final(trial, names, curve)
    return FinishedTrial(parameters, final, reason, curve)


def _value(name: str, number: float, text: str, domain: Domain) -> Value:
    """Optuna stores the index of a choice, and other values as they are."""
    kind, about = _distribution(name, text)
    if kind == "CategoricalDistribution":
        choices: list[object] = about.get("choices") or []
        try:
            choice = choices[int(number)]
        except (IndexError, TypeError, ValueError):
            raise InvalidArgument(f"parameter {name!r} has no choice {number!r}") from None
        return choice if choice in _numbers(domain) and _is_number(choice) else _text(choice)
    if isinstance(domain, Choices):
        return min(_numbers(domain), key=lambda each: abs(each - number))
    return int(number) if domain.integral else number


def _numbers(domain: Domain) -> list[float]:
    values = domain.values if isinstance(domain, Choices) else ()
    return [value for value in values if not isinstance(value, str)]


def _curve(trial: StoredTrial, names: Sequence[str]) -> Iterator[Measured]:
    """Only studies of one objective have any."""
    for step, value in sorted(trial.reported.items()):
        if len(names) == 1 and math.isfinite(value):
            yield Measured({names[0]: value}, step)


def _final(
    trial: StoredTrial, names: Sequence[str], curve: Sequence[Measured]
) -> tuple[Measured | None, str]:
    if trial.state == "FAIL":
        return None, "it failed"
    if trial.state == "PRUNED":
        return (curve[-1], "") if curve else (None, "it was pruned before it reported a number")
    if len(trial.values) != len(names) or not all(map(math.isfinite, trial.values)):
        return None, "its value isn't a number"
    step = curve[-1].step if curve else 0
    return Measured(dict(zip(names, trial.values, strict=True)), step), ""
