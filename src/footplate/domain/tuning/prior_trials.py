"""Trials of earlier searches that a search starts with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from footplate.domain.studies.ranking import by_rank
from footplate.domain.studies.study import Study
from footplate.domain.studies.trials import Trial
from footplate.domain.tuning.search import Search


@dataclass(frozen=True)
class PriorTrials:
    """The trials of the job or study with the id ``source``, and of those that it continued."""

    source: str
    count: int
    """Finished trials of all of them."""
    equal: bool
    """They count like own trials; else they are a first idea."""
    best: Trial | None = None
    """The best of them; None: none has a value, or the search has several metrics."""
    best_of_source: bool = False
    """The best is a trial of ``source`` itself."""


def prior_trials(search: Search, earlier: Sequence[Study]) -> PriorTrials | None:
    """Describes the trials that a search starts with; None: it starts without any.

    ``earlier`` are the studies that the search learns from, oldest first.
    """
    name = search.resumes or search.learns_from
    if not name:
        return None
    metrics, space = search.study.metrics, search.study.space
    known = [study for study in earlier if study.config.metrics == metrics]
    trials = [trial for study in known for trial in study.trials]
    best = None
    if len(metrics) == 1:
        ranked = by_rank(trials, metrics[0])
        best = next((t for t in ranked if t.value(metrics[0]) is not None), None)
    return PriorTrials(
        source=name.rpartition("/")[2],
        count=sum(len(study.trials) for study in earlier),
        equal=all(study.config.space == space for study in earlier),
        best=best,
        best_of_source=bool(earlier) and any(best is t for t in earlier[-1].trials),
    )


def describe_prior(prior: PriorTrials, search: Search) -> str:
    """Describes prior trials in one sentence, for the events of the job."""
    if not prior.count:
        return f"{prior.source} has no finished trial: this search starts without earlier trials"
    trials = (
        f"{prior.count} earlier trials inform" if prior.count > 1 else "1 earlier trial informs"
    )
    role = "as if they were its own" if prior.equal else "with a first idea"
    said = f"goes on from {prior.source}: {trials} this search {role}"
    if prior.best is None or prior.best.final is None:
        return said
    metric = search.study.metrics[0].name
    value = f"{metric} = {prior.best.final.values[metric]:.6g}"
    which = f"trial {prior.best.number} of {prior.source}"
    return f"{said}; the best is {which if prior.best_of_source else 'an older one'}, {value}"
