"""Those that are compared, behind one face: ask for a point, tell its loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    Scale,
)
from footplate.domain.studies.study import Study, StudyConfig
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.bayesian.model import newest, wanted
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.search import BayesianSearch
from footplate.tuning.designer_selection import RandomSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.domain.studies.parameters import Parameter, Value
    from footplate.domain.studies.space import Point, SearchSpace
    from footplate.tuning.bayesian.model import Model

LOSS = Metric("loss", Goal.MINIMIZE)


class Tuner(Protocol):
    def ask(self) -> tuple[object, Point]: ...

    def tell(self, token: Any, point: Point, loss: float) -> None: ...

    def learn(self) -> None:
        """What may happen where nobody waits: it doesn't count as latency."""
        ...


class Footplate:
    """With models as the service makes them: by the schedule, apart from suggestions."""

    def __init__(self, space: SearchSpace, seed: int, *, random: bool = False) -> None:
        self._config = StudyConfig(space, (LOSS,))
        self._seed, self._random = seed, random
        self._trials: dict[int, Trial] = {}
        self._finished = 0
        self._models: dict[int, Model | None] = {0: None}

    def ask(self) -> tuple[object, Point]:
        study = Study(self._config, tuple(self._trials.values()))
        model = self._models[wanted(self._finished)] if not self._random else None
        designer = RandomSearch() if self._random else BayesianSearch(model)
        batch = designer.suggest(study, 1, self._seed)
        number = len(self._trials) + 1
        point = batch.suggestions[0].point if batch.suggestions else self._trials[1].point
        self._trials[number] = Trial(number, point, TrialState.ACTIVE)
        return number, point

    def tell(self, token: Any, point: Point, loss: float) -> None:
        final = Measurement({"loss": loss})
        self._trials[token] = Trial(token, point, TrialState.SUCCEEDED, (final,), final)
        self._finished += 1

    def learn(self) -> None:
        due = newest(self._finished)
        if self._random or due in self._models:
            return
        study = Study(self._config, tuple(self._trials.values()))
        self._models[due] = refit(study, self._models[max(self._models)])


class Optuna:
    def __init__(self, space: SearchSpace, sampler: Any) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = space
        self._study = optuna.create_study(sampler=sampler)

    def ask(self) -> tuple[object, Point]:
        trial = self._study.ask()
        point: dict[str, Value] = {}
        self._draw(trial, self._space.parameters, point)
        return trial, point

    def tell(self, token: Any, point: Point, loss: float) -> None:  # noqa: ARG002 - it knows its points
        self._study.tell(token, loss)

    def learn(self) -> None:
        pass

    def _draw(self, trial: Any, parameters: Sequence[Parameter], point: dict[str, Value]) -> None:
        for parameter in parameters:
            value = _suggested(trial, parameter)
            point[parameter.name] = value
            below = [b.parameter for b in parameter.branches if value in b.values]
            self._draw(trial, below, point)


def _suggested(trial: Any, parameter: Parameter) -> Value:
    """Discrete values by their place, so that it knows their order."""
    name = parameter.name
    if isinstance(parameter, CategoricalParameter):
        return str(trial.suggest_categorical(name, parameter.values))
    if isinstance(parameter, DiscreteParameter):
        return parameter.values[int(trial.suggest_int(name, 0, parameter.count - 1))]
    log = parameter.scale is Scale.LOG
    if isinstance(parameter, DoubleParameter):
        return float(trial.suggest_float(name, parameter.low, parameter.high, log=log))
    return int(trial.suggest_int(name, parameter.low, parameter.high, log=log))


def _tpe(space: SearchSpace, seed: int, parallel: int) -> Tuner:
    import optuna

    return Optuna(space, optuna.samplers.TPESampler(seed=seed, constant_liar=parallel > 1))


def _gp(space: SearchSpace, seed: int, parallel: int) -> Tuner:  # noqa: ARG001 - all are made alike
    import optuna

    return Optuna(space, optuna.samplers.GPSampler(seed=seed, deterministic_objective=True))


class Ax:
    """It knows no conditions: it gets all parameters, and those that aren't active are left out."""

    def __init__(self, space: SearchSpace, seed: int) -> None:
        from ax.api.client import Client

        self._space = space
        self._client = Client(random_seed=seed)
        parameters = [_for_ax(slot.parameter) for slot in space.slots]
        self._client.configure_experiment(parameters=parameters)
        self._client.configure_optimization(objective="-loss")

    def ask(self) -> tuple[object, Point]:
        ((index, values),) = self._client.get_next_trials(max_trials=1).items()
        point: dict[str, Value] = {}
        self._take(self._space.parameters, values, point)
        return index, point

    def tell(self, token: Any, point: Point, loss: float) -> None:  # noqa: ARG002 - it knows its points
        self._client.complete_trial(trial_index=token, raw_data={"loss": loss})

    def learn(self) -> None:
        pass

    def _take(self, parameters: Sequence[Parameter], values: Any, point: dict[str, Value]) -> None:
        for parameter in parameters:
            value = values[parameter.name]
            point[parameter.name] = value
            below = [b.parameter for b in parameter.branches if value in b.values]
            self._take(below, values, point)


def _for_ax(parameter: Parameter) -> Any:
    from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

    if isinstance(parameter, CategoricalParameter | DiscreteParameter):
        numbers = isinstance(parameter, DiscreteParameter)
        return ChoiceParameterConfig(
            name=parameter.name,
            values=list(parameter.values),
            parameter_type="float" if numbers else "str",
            is_ordered=numbers,
        )
    return RangeParameterConfig(
        name=parameter.name,
        bounds=(parameter.low, parameter.high),
        parameter_type="float" if isinstance(parameter, DoubleParameter) else "int",
        scaling="log" if parameter.scale is Scale.LOG else "linear",
    )


TUNERS: dict[str, Callable[[SearchSpace, int, int], Tuner]] = {
    "footplate": lambda space, seed, _: Footplate(space, seed),
    "random": lambda space, seed, _: Footplate(space, seed, random=True),
    "optuna-tpe": _tpe,
    "optuna-gp": _gp,
    "ax": lambda space, seed, _: Ax(space, seed),
}
