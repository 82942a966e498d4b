"""Converts VizierService requests.

Every function raises InvalidArgument with all that is wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType

from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.request import StudyRequest
from footplate.domain.studies.transitions import Outcome
from footplate.domain.studies.trials import TrialState
from footplate.domain.studies.user_trials import NewTrial
from footplate.wire.durations import seconds
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, format_object, objects
from footplate.wire.vertex_v1 import vizier_models as models
from footplate.wire.vertex_v1.rules.vizier import (
    MAX_DISPLAY_NAME,
    check_added,
    check_completion,
    check_new_study,
    check_suggest,
    check_text,
    check_trial,
)
from footplate.wire.vertex_v1.study_configs import study_config
from footplate.wire.vertex_v1.study_models import StudySpec
from footplate.wire.vertex_v1.vizier_enums import TrialState as WireState

_STATES = MappingProxyType(
    {
        WireState.REQUESTED: TrialState.REQUESTED,
        WireState.ACTIVE: TrialState.ACTIVE,
        WireState.SUCCEEDED: TrialState.SUCCEEDED,
        WireState.INFEASIBLE: TrialState.INFEASIBLE,
    }
)


@dataclass(frozen=True)
class SuggestRequest:
    count: int
    client_id: str


def read_study(body: JsonObject) -> StudyRequest:
    understood = models.Study.understand(body)
    study = understood.message
    refuse(understood.with_rules(check_new_study(study, understood.clouds)))
    spec = study.study_spec or StudySpec()
    return StudyRequest(study.display_name or "", study_config(spec), format_object(spec.encode()))


def read_lookup(body: JsonObject) -> str:
    """Returns the display name to look for. Raises InvalidArgument."""
    understood = models.LookupStudyRequest.understand(body)
    name = understood.message.display_name
    refuse(understood.with_rules(check_text(name, "displayName", MAX_DISPLAY_NAME)))
    return name or ""


def read_suggest(body: JsonObject) -> SuggestRequest:
    understood = models.SuggestTrialsRequest.understand(body)
    request = understood.message
    refuse(understood.with_rules(check_suggest(request)))
    return SuggestRequest(request.suggestion_count or 0, request.client_id or "")


def read_measurement(body: JsonObject) -> Measurement:
    understood = models.AddTrialMeasurementRequest.understand(body)
    request = understood.message
    refuse(understood.with_rules(check_added(request, understood.clouds)))
    return _measurement(request.measurement or models.Measurement())


def read_outcome(body: JsonObject) -> Outcome:
    understood = models.CompleteTrialRequest.understand(body)
    request = understood.message
    refuse(understood.with_rules(check_completion(request, understood.clouds)))
    if request.trial_infeasible:
        return Outcome(infeasible=True, reason=request.infeasible_reason or "")
    final = request.final_measurement
    return Outcome(None if final is None else _measurement(final))


def read_trial(body: JsonObject) -> NewTrial:
    understood = models.Trial.understand(body)
    trial = understood.message
    refuse(understood.with_rules(check_trial(trial, understood.clouds)))
    final = trial.final_measurement
    unsaid = WireState.REQUESTED if final is None else WireState.SUCCEEDED
    parameters = trial.parameters or ()
    return NewTrial(
        point={p.parameter_id or "": p.value for p in parameters if p.value is not None},
        state=_STATES[trial.state or unsaid],
        measurements=tuple(_measurement(m) for m in trial.measurements or ()),
        final=None if final is None else _measurement(final),
        client_id=trial.client_id or "",
        infeasible_reason=trial.infeasible_reason or "",
    )


def metric_ids(request: str) -> frozenset[str]:
    """Returns all metrics of an accepted ``studySpec`` or ``studyConfig``.

    They include those that aren't optimised.
    """
    metrics = objects(json.loads(request).get("metrics"))
    return frozenset(str(each.get("metricId") or each.get("metric", "")) for each in metrics)


def _measurement(given: models.Measurement) -> Measurement:
    return Measurement(
        values={m.metric_id or "": m.value or 0.0 for m in given.metrics or ()},
        step=given.step_count or 0,
        elapsed_s=seconds(given.elapsed_duration or "0s"),
    )
