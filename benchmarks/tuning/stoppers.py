"""Stopping rules behind one face: those of Footplate, Optuna's pruners, and who knows all ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from curves import EPOCHS

from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.stopping import ConvexSpec, DecayCurveSpec, HalvingSpec, MedianSpec
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.stopping.curves import Curve, Ruler
from footplate.tuning.stopping.rule import rule_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from curves import Trainings

    from footplate.domain.studies.space import Point
    from footplate.domain.studies.stopping import StoppingSpec

LOSS = Metric("loss", Goal.MINIMIZE)


class Stopper(Protocol):
    def begin(self, number: int, point: Point) -> None: ...

    def stops(self, number: int, epoch: int, loss: float) -> bool:
        """Whether the trial ends here, after this measurement."""
        ...

    def end(self, number: int, *, stopped: bool) -> None: ...


class Never:
    def begin(self, number: int, point: Point) -> None: ...

    def stops(self, number: int, epoch: int, loss: float) -> bool:  # noqa: ARG002 - the protocol
        return False

    def end(self, number: int, *, stopped: bool) -> None: ...


@dataclass(frozen=True)
class _Remembering(Ruler):
    """Makes the curve of a trial once for each of its lengths."""

    known: dict[tuple[int, int], Curve] = field(default_factory=dict, compare=False)

    def curve(self, trial: Trial) -> Curve:
        asked = trial.number, len(trial.measurements)
        if asked not in self.known:
            self.known[asked] = super().curve(trial)
        return self.known[asked]


class Ours:
    def __init__(self, spec: StoppingSpec) -> None:
        self._rule = rule_of(_Remembering(LOSS), spec)
        self.trials: dict[int, Trial] = {}

    def begin(self, number: int, point: Point) -> None:
        self.trials[number] = Trial(number, point, TrialState.ACTIVE)

    def stops(self, number: int, epoch: int, loss: float) -> bool:
        trial = self.trials[number]
        measured = (*trial.measurements, Measurement({"loss": loss}, step=epoch))
        trial = self.trials[number] = replace(trial, measurements=measured)
        others = [other for other in self.trials.values() if other.number != number]
        return bool(self._rule.reason_to_stop(trial, others))

    def end(self, number: int, *, stopped: bool) -> None:
        trial = self.trials[number]
        self.trials[number] = replace(
            trial,
            state=TrialState.SUCCEEDED,
            final=trial.measurements[-1],
            stopped_early=stopped,
        )


class Oracle:
    """What stopping can save at most: it knows how each training ends.

    It lets go on what ends among the best 1 %, or better than all that began before; and it waits
    as a rule has to that learns from curves: until ``whole`` trials have run to their end, and for
    the first ``grace`` epochs of each.
    """

    def __init__(self, trainings: Trainings, whole: int, grace: int) -> None:
        self._trainings = trainings
        self._wanting, self._grace = whole, grace
        self._best = math.inf
        self._kept: set[int] = set()

    def begin(self, number: int, point: Point) -> None:
        final = float(self._trainings.true(point)[-1])
        if final <= max(self._trainings.target, self._best):
            self._kept.add(number)
        self._best = min(self._best, final)

    def stops(self, number: int, epoch: int, loss: float) -> bool:  # noqa: ARG002 - the protocol
        return self._wanting <= 0 and epoch >= self._grace and number not in self._kept

    def end(self, number: int, *, stopped: bool) -> None:  # noqa: ARG002 - the protocol
        self._wanting -= not stopped


class Pruner:
    """One of Optuna's. Its trials have no parameters: somebody else chooses the points."""

    def __init__(self, pruner: Any) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(pruner=pruner)
        self._states = optuna.trial.TrialState
        self._trials: dict[int, Any] = {}
        self._last: dict[int, float] = {}

    def begin(self, number: int, point: Point) -> None:  # noqa: ARG002 - the protocol
        self._trials[number] = self._study.ask()

    def stops(self, number: int, epoch: int, loss: float) -> bool:
        self._last[number] = loss
        self._trials[number].report(loss, epoch)
        return bool(self._trials[number].should_prune())

    def end(self, number: int, *, stopped: bool) -> None:
        if stopped:
            self._study.tell(self._trials[number], state=self._states.PRUNED)
        elif self._last[number] == self._last[number]:
            self._study.tell(self._trials[number], self._last[number])
        else:
            self._study.tell(self._trials[number], state=self._states.FAIL)


def _optuna(name: str, **options: Any) -> Stopper:
    import optuna

    return Pruner(getattr(optuna.pruners, name)(**options))


STOPPERS: dict[str, Callable[[Trainings], Stopper]] = {
    "none": lambda _: Never(),
    "halving": lambda _: Ours(HalvingSpec()),
    "median": lambda _: Ours(MedianSpec()),
    "decay": lambda _: Ours(DecayCurveSpec()),
    "convex": lambda _: Ours(ConvexSpec(max_step=EPOCHS)),
    "optuna-median": lambda _: _optuna("MedianPruner"),
    "optuna-halving": lambda _: _optuna("SuccessiveHalvingPruner"),
    "optuna-hyperband": lambda _: _optuna("HyperbandPruner", max_resource=EPOCHS),
    "oracle-that-waits": lambda trainings: Oracle(trainings, whole=5, grace=EPOCHS // 10 + 1),
    "oracle": lambda trainings: Oracle(trainings, whole=0, grace=1),
}
"""Those that are compared where nothing else is asked for."""


def stopper_of(name: str, trainings: Trainings) -> Stopper:
    """``oracle-2-3`` is an oracle that waits for 2 whole trials, and 3 epochs of each."""
    if name in STOPPERS:
        return STOPPERS[name](trainings)
    _, whole, grace = name.split("-")
    return Oracle(trainings, int(whole), int(grace))
