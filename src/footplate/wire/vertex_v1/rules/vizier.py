"""Rules for Vizier studies and trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from footplate.domain.errors import Violation
from footplate.wire.durations import check_limit, seconds
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.rules.studies import MAX_PARAMETERS, check_study
from footplate.wire.vertex_v1.vizier_enums import TrialState
from footplate.wire.vertex_v1.vizier_models import (
    AddTrialMeasurementRequest,
    CompleteTrialRequest,
    Measurement,
    Study,
    SuggestTrialsRequest,
    Trial,
)

MAX_DISPLAY_NAME = 128
MAX_CLIENT_ID = 256
MAX_SUGGESTIONS = 1000
MAX_MEASUREMENTS = 10_000
"""Of a trial that is reported in one piece."""
MAX_REASON = 10_000
_STATES = (
    TrialState.REQUESTED,
    TrialState.ACTIVE,
    TrialState.SUCCEEDED,
    TrialState.INFEASIBLE,
)


def check_new_study(study: Study, clouded: Callable[[str], bool]) -> Iterator[Violation]:
    yield from check_text(study.display_name, "displayName", MAX_DISPLAY_NAME)
    if study.study_spec is None:
        yield Violation("studySpec", "required: the metrics, and the parameters to search")
        return
    yield from check_study(study.study_spec, "studySpec", clouded, vizier=True)


def check_text(text: str | None, field: str, longest: int) -> Iterator[Violation]:
    if not text:
        yield Violation(field, f"required: 1 to {longest} characters")
    elif len(text) > longest:
        yield Violation(field, f"{len(text)} characters given; allowed: at most {longest}")


def check_suggest(request: SuggestTrialsRequest) -> Iterator[Violation]:
    count = request.suggestion_count or 0
    if not 1 <= count <= MAX_SUGGESTIONS:
        said = f"{count} given; allowed: 1 to {MAX_SUGGESTIONS}"
        yield Violation("suggestionCount", said)
    if request.client_id:  # Google's SDK sends an empty one for a worker that wasn't named
        yield from check_text(request.client_id, "clientId", MAX_CLIENT_ID)


def check_added(
    request: AddTrialMeasurementRequest, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    if request.measurement is None:
        yield Violation("measurement", "required: the measurement to add")
    else:
        yield from check_measurement(request.measurement, "measurement", clouded)


def check_completion(
    request: CompleteTrialRequest, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    """Yields faults of a completion; with trialInfeasible, finalMeasurement is ignored."""
    if request.final_measurement is not None and not request.trial_infeasible:
        yield from check_measurement(request.final_measurement, "finalMeasurement", clouded)
    if request.infeasible_reason:
        yield from check_text(request.infeasible_reason, "infeasibleReason", MAX_REASON)
        if not request.trial_infeasible:
            said = f"{describe(request.infeasible_reason)} given; allowed only with trialInfeasible"
            yield Violation("infeasibleReason", said)


def check_trial(trial: Trial, clouded: Callable[[str], bool]) -> Iterator[Violation]:
    yield from _check_parameters(trial, clouded)
    state = trial.state or TrialState.REQUESTED
    if state not in _STATES:
        allowed = ", ".join(each.name for each in _STATES)
        yield Violation("state", f"{state.name} given; allowed: {allowed}")
    if trial.client_id:
        yield from check_text(trial.client_id, "clientId", MAX_CLIENT_ID)
    if trial.infeasible_reason:
        yield from check_text(trial.infeasible_reason, "infeasibleReason", MAX_REASON)
    if trial.final_measurement is not None:
        yield from check_measurement(trial.final_measurement, "finalMeasurement", clouded)
        if trial.state not in (None, TrialState.STATE_UNSPECIFIED, TrialState.SUCCEEDED):
            said = f"given with the state {state.name}; allowed only with the state SUCCEEDED"
            yield Violation("finalMeasurement", said)
    measurements = trial.measurements or []
    if len(measurements) > MAX_MEASUREMENTS:
        said = f"{len(measurements)} given; allowed: at most {MAX_MEASUREMENTS}"
        yield Violation("measurements", said)
        return
    for index, measurement in enumerate(measurements):
        yield from check_measurement(measurement, f"measurements[{index}]", clouded)


def check_measurement(
    measurement: Measurement, at: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    """Yields faults of a measurement; a later check compares its metrics with the study's."""
    duration, step = measurement.elapsed_duration, measurement.step_count
    if duration and seconds(duration):
        yield from check_limit(duration, f"{at}.elapsedDuration")
    if step is not None and step < 0:
        yield Violation(f"{at}.stepCount", f"{step} given; allowed: 0 or more")
    field = f"{at}.metrics"
    if not measurement.metrics and not clouded(field):
        yield Violation(field, "required: values of metrics, at least one")
    seen: set[str] = set()
    for index, metric in enumerate(measurement.metrics or ()):
        name, path = metric.metric_id or "", f"{field}[{index}].metricId"
        if not name:
            yield Violation(path, "required: a metric of the study")
        elif name in seen:
            yield Violation(
                path, f"{describe(name)} given twice; allowed: one value for each metric"
            )
        seen.add(name)


def _check_parameters(trial: Trial, clouded: Callable[[str], bool]) -> Iterator[Violation]:
    """Yields faults of parameters; a later check compares them with the study's space."""
    if not trial.parameters and not clouded("parameters"):
        yield Violation("parameters", "required: a value for each parameter of the study")
    if len(trial.parameters or ()) > MAX_PARAMETERS:
        said = f"{len(trial.parameters or ())} given; allowed: at most {MAX_PARAMETERS}"
        yield Violation("parameters", said)
        return
    seen: set[str] = set()
    for index, parameter in enumerate(trial.parameters or ()):
        name, at = parameter.parameter_id or "", f"parameters[{index}]"
        if not name:
            yield Violation(f"{at}.parameterId", "required: a parameter of the study")
        elif name in seen:
            said = f"{describe(name)} given twice; allowed: one value for each parameter"
            yield Violation(f"{at}.parameterId", said)
        seen.add(name)
        if parameter.value is None and not clouded(f"{at}.value"):
            yield Violation(f"{at}.value", "required: a number, or a string for a category")
