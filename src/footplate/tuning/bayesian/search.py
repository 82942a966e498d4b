"""The Bayesian designer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from footplate.domain.studies.ranking import pareto_optimal
from footplate.domain.studies.space import Point
from footplate.domain.studies.study import Study
from footplate.tuning.bayesian.candidate_value import (
    CandidateValue,
    Feasibility,
    LogExpectedImprovement,
    MultiObjectiveValue,
    TrustRegion,
)
from footplate.tuning.bayesian.candidates import (
    Candidates,
    LocalOptimum,
    sweep,
    sweep_all,
    sweep_prior,
)
from footplate.tuning.bayesian.explanation import NearbyTrial, explain
from footplate.tuning.bayesian.model import Model
from footplate.tuning.bayesian.model_fit import MIN_VALUES, fits, prior_of, refit
from footplate.tuning.bayesian.observations import counted, observed
from footplate.tuning.bayesian.plateaus import Marginals, Plateaus, weight
from footplate.tuning.bayesian.prior import Prior, unrelated_studies
from footplate.tuning.bayesian.surrogate import Surrogate
from footplate.tuning.branches import Neglected, SpaceBranch, neglected
from footplate.tuning.designer import Batch, Explanation, Reason, Suggestion
from footplate.tuning.encoding import Encoding
from footplate.tuning.sampling import SeenPoints, all_tried, draw_new, generator, repeats, tried

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats


# The initial points, suggested before there is a model.

_FEWEST, _MOST = 3, 10
_LOOKED_AT = 64


def initial_count(encoding: Encoding) -> int:
    """Returns after how many trials the model is used."""
    return min(_MOST, _FEWEST + encoding.width)


def initial_point(
    encoding: Encoding, index: int, seed: int, known: SeenPoints, *, again: bool
) -> Point | None:
    """Returns initial point number ``index``, or a later one if it is known; None: all were tried.

    The first point is the centre, or the defaults if the study gives any; then a Sobol sequence
    follows.
    """
    if known.everything and not again:
        return None
    if index == 0:
        point = _centre(encoding)
        if point not in known:
            return point
    first = max(index, 1)
    for row in encoding.draw(_sobol(encoding.width, first + _LOOKED_AT, seed)[first:]):
        point = encoding.point(row)
        if point not in known:
            return point
    return draw_new(encoding.space, generator(seed, index), known, again=again)


def _centre(encoding: Encoding) -> Point:
    """Returns the central point: parameters have their default, or the middle of their axis."""
    middle = np.array([along.spread(np.array([0.5]))[0] for along in encoding.axes])
    for j, slot in enumerate(encoding.space.slots):
        default = slot.parameter.default
        if default is not None:
            middle[j] = encoding.axes[j].position(default)
    return encoding.point(encoding.settle(middle[None, :], generator(0))[0])


def _sobol(width: int, count: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    from scipy.stats import qmc  # heavy: only studies that begin need it

    powers = int(np.ceil(np.log2(count)))
    points: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    points = qmc.Sobol(width, rng=generator(seed)).random_base2(powers)
    return points[:count]


_CANDIDATES = 1200
_AFTER_OTHERS = 4
"""So many initial points are enough where there are studies to learn from."""
_LISTED = 2000
"""Spaces of at most so many points are looked at whole."""
_ROWS = 150
"""Beyond so many measured points, fewer candidates are looked at: a suggestion stays quick."""
_STAGNANT, _EVERY = 8, 3


@dataclass(frozen=True)
class BayesianSearch:
    """The Bayesian search method.

    ``model`` is the last result of :func:`refit` for these trials or fewer; None: it is fitted
    here. A suggestion with a model of all but the last trials takes some tens of milliseconds. A
    fit takes longer, and should run where nobody waits for it.
    """

    model: Model | None = None

    def suggest(self, study: Study, count: int, seed: int) -> Batch:
        step = _Step(study, self.model, seed)
        found: list[Suggestion] = []
        for _ in range(count):
            suggestion = step.next()
            if suggestion is None:
                return Batch(tuple(found), all_tried(study))
            found.append(suggestion)
        return Batch(tuple(found))


class _Step:
    """One call of ``suggest``: each suggestion counts as pending for the following ones."""

    def __init__(self, study: Study, model: Model | None, seed: int) -> None:
        self._study, self._seed = study, seed
        self._encoding = Encoding(study.config.space)
        trials = counted(study, self._encoding)
        self._seen = observed(trials, study.config.metrics, self._encoding)
        own = {id(trial) for trial in study.trials}
        self._pending = [t.point for t in trials if id(t) in own and not t.state.ended]
        self._points = [trial.point for trial in trials]
        self._known, self._again = tried(study), repeats(study)
        self._given = len(study.trials)
        usable = model is not None and fits(study, model)
        self._model = model if usable else None

    def next(self) -> Suggestion | None:
        """Suggests a point; None: all points have been tried."""
        if self._known.everything and not self._again:
            return None
        due = neglected(self._encoding.space, self._points, again=self._again)
        if self._is_early():
            suggestion = self._initial() if due is None else self._unmodelled(due)
        else:
            suggestion = self._modelled(due)
        if suggestion is not None:
            self._given += 1
            self._pending.append(suggestion.point)
            self._points.append(suggestion.point)
            self._known.add(suggestion.point)
        return suggestion

    def _is_early(self) -> bool:
        """Returns whether there are too few trials for the model, related studies' included."""
        inherited = len(self._seen.trials) + len(self._seen.infeasible) + len(self._pending)
        given = max(self._given, inherited)
        wanted = _AFTER_OTHERS if any(self._priors) else initial_count(self._encoding)
        return given < wanted or len(self._seen.rows) < MIN_VALUES

    def _initial(self) -> Suggestion | None:
        """Suggests an initial point; every second one is the best guess from earlier studies."""
        prior = self._priors[0] if self._priors else None
        if prior is not None and self._given % 2 == 0:
            rng = generator(self._seed, self._given)
            rows = sweep_prior(prior, Candidates(self._encoding, rng))
            points = map(self._encoding.point, rows)
            point = next((p for p in points if p not in self._known), None)
            if point is not None:
                sentence = "initial design: earlier studies expect the best result here"
                return Suggestion(point, Explanation(Reason.INITIAL, sentence))
        return self._spread()

    def _spread(self) -> Suggestion | None:
        point = initial_point(
            self._encoding, self._given, self._seed, self._known, again=self._again
        )
        if point is None:
            return None
        first = self._given == 0 and not len(self._known)
        sentence = "the middle of all ranges, or the default values" if first else "spread evenly"
        why = Explanation(
            Reason.INITIAL, f"initial design: {sentence}; too few trials have ended for a model"
        )
        return Suggestion(point, why)

    def _unmodelled(self, due: Neglected) -> Suggestion | None:
        point = self._drawn(due.branch)
        why = Explanation(Reason.EXPLORE, f"explores: {due}; too few trials have ended for a model")
        return None if point is None else Suggestion(point, why)

    def _modelled(self, due: Neglected | None) -> Suggestion | None:
        """Suggests a point by the model; ``due`` is the branch that has to be next."""
        model = self._fitted()
        surrogates = self._surrogates(model)
        branch, because = (due.branch, str(due)) if due else (None, self._stagnates())
        anywhere = because and not due
        for row in () if anywhere else self._rows(surrogates, model, branch):
            point = self._encoding.point(row)
            new = self._again or point not in self._known
            if new and (branch is None or branch.has(point)):
                return self._explained(point, surrogates, because)
        left = self._drawn(branch)
        return None if left is None else self._explained(left, surrogates, because)

    def _stagnates(self) -> str:
        return reason_to_explore(self._seen.losses, self._given)

    def _drawn(self, branch: SpaceBranch | None) -> Point | None:
        rng = generator(self._seed, self._given)
        if branch is None:
            return draw_new(self._encoding.space, rng, self._known, again=self._again)
        return draw_new(branch.space, rng, branch.inside(self._points), again=self._again)

    def _fitted(self) -> Model:
        if self._model is None or not self._model.outputs:
            self._model = refit(self._study, self._model)
        assert self._model is not None  # noqa: S101 - there are values enough, or it would be early
        return self._model

    def _surrogates(self, model: Model) -> list[Surrogate]:
        """Makes a surrogate for each metric."""
        pending = self._encoding.rows(self._pending)
        return [
            Surrogate(self._encoding, output, self._seen.rows, losses, pending, prior)
            for output, losses, prior in zip(
                model.outputs, self._seen.losses.T, self._priors, strict=True
            )
        ]

    @cached_property
    def _priors(self) -> list[Prior | None]:
        """Returns a prior for each metric from studies of other spaces; None: there is none."""
        if not unrelated_studies(self._study):
            return [None] * len(self._study.config.metrics)
        if self._model is None:
            self._model = refit(self._study)
        return [
            prior_of(self._study, place, self._encoding, fitted)
            for place, fitted in enumerate(self._model.earlier if self._model else ())
        ]

    def _rows(
        self, surrogates: Sequence[Surrogate], model: Model, branch: SpaceBranch | None
    ) -> Iterator[Floats]:
        """Yields candidate rows, best first."""
        rng = generator(self._seed, self._given)
        worth, merit = self._worth(surrogates, model, rng)
        size = self._encoding.space.size
        if size is not None and size <= _LISTED:
            points = [self._encoding.space.point_at(index) for index in range(size)]
            return sweep_all(worth, self._encoding.rows(points))
        best_rows = self._seen.rows[np.argsort(-merit, kind="stable")]
        count = int(_CANDIDATES * min(1.0, _ROWS / len(self._seen.rows)))
        focused = self._focus(model) > 0.0
        candidates = Candidates(self._encoding, rng, branch)
        return sweep(worth, candidates, best_rows, count, focused=focused)

    def _worth(
        self, surrogates: Sequence[Surrogate], model: Model, rng: np.random.Generator
    ) -> tuple[LocalOptimum, Floats]:
        """Returns the function that values candidates, and the values of the measured rows."""
        trust = TrustRegion(self._encoding, self._seen.rows)
        feasibility = Feasibility(self._encoding, model.feasibility, self._seen)
        if len(surrogates) > 1:
            shared = MultiObjectiveValue(surrogates, trust, feasibility, rng)
            return shared, shared.of_measured()
        only = surrogates[0]
        rows, losses = self._seen.rows, self._seen.losses[:, 0]
        failed, focus = self._seen.infeasible, self._focus(model)
        marginals = Marginals(self._encoding, rows, losses, failed, focus)
        pending = self._encoding.rows(self._pending)
        ties = Plateaus(self._encoding, model.sharpness, rows, losses, pending)
        acquisition = self._acquisition(only)
        worth = CandidateValue(
            self._encoding, only, acquisition, trust, feasibility, marginals, ties
        )
        return worth, -only.expected

    def _focus(self, model: Model) -> float:
        tied, running = model.sharpness is not None, len(self._pending)
        return weight(self._encoding, len(self._seen.rows), running, tied=tied)

    def _acquisition(self, surrogate: Surrogate) -> LogExpectedImprovement:
        """Makes an acquisition function that counts expected results of running trials."""
        expected = surrogate.mean(self._encoding.rows(self._pending))
        return LogExpectedImprovement(float(expected.min(initial=surrogate.best)))

    def _explained(self, point: Point, surrogates: Sequence[Surrogate], because: str) -> Suggestion:
        metrics, row = self._study.config.metrics, self._encoding.row(point)
        why = explain(self._encoding, surrogates, metrics, row, self._best(), because)
        return Suggestion(point, why)

    def _best(self) -> list[NearbyTrial]:
        """Returns the trials that no other beats, with their rows; of equal ones only the first."""
        losses = self._seen.losses
        if losses.shape[1] == 1:
            places = [int(np.argmin(losses[:, 0]))]
        else:
            optimal = {id(t) for t in pareto_optimal(self._seen.trials, self._study.config.metrics)}
            places = [i for i, trial in enumerate(self._seen.trials) if id(trial) in optimal]
        own = {id(trial) for trial in self._study.trials}
        found = [(self._seen.trials[place], self._seen.rows[place]) for place in places]
        return [NearbyTrial(trial, row, id(trial) not in own) for trial, row in found]


def reason_to_explore(losses: Floats, number: int) -> str:
    """Returns why trial ``number`` is drawn from the whole space; empty: it isn't.

    ``losses`` are of all metrics, in the order of the trials. With several metrics the result is
    empty: they have many best trials, none of which is better than all others.
    """
    if losses.shape[1] > 1 or number % _EVERY:
        return ""
    since = len(losses) - 1 - int(losses[:, 0].argmin())
    return f"none of the last {since} trials was better" if since >= _STAGNANT else ""
