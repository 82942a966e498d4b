"""The unmodified VizierServiceClient against a whole service, which may stop and start again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform_v1

from footplate.testing.service import RunningService, running_service

PARENT = "projects/demo/locations/us-central1"
SPEC: dict[str, Any] = {
    "metrics": [{"metric_id": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {"parameter_id": "x", "double_value_spec": {"min_value": -5, "max_value": 5}},
        {"parameter_id": "y", "double_value_spec": {"min_value": -5, "max_value": 5}},
        {"parameter_id": "shape", "categorical_value_spec": {"values": ["bowl", "hill"]}},
    ],
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("vizier") / "data") as service:
        yield service


@pytest.fixture
def connect(service: RunningService) -> Callable[[], Any]:
    """A new client of the server that runs now. Any: its methods have no types."""
    nobody: Any = AnonymousCredentials

    def make() -> Any:
        options = {"api_endpoint": service.url}
        make_client: Any = aiplatform_v1.VizierServiceClient
        return make_client(transport="rest", client_options=options, credentials=nobody())

    return make


def create(client: Any, display_name: str, **more: Any) -> str:
    study = {"display_name": display_name, "study_spec": {**SPEC, **more}}
    return str(client.create_study(parent=PARENT, study=study).name)


def suggest(client: Any, study: str, count: int, worker: str) -> Any:
    request = {"parent": study, "suggestion_count": count, "client_id": worker}
    return client.suggest_trials(request=request).result()


def loss(trial: Any) -> float:
    """Least, 0, at (3, -2) in the bowl."""
    point = {parameter.parameter_id: parameter.value for parameter in trial.parameters}
    off = (point["x"] - 3) ** 2 + (point["y"] + 2) ** 2
    return float(off if point["shape"] == "bowl" else 60 - off)


def reading(value: float, step: int = 0) -> dict[str, Any]:
    return {"step_count": step, "metrics": [{"metric_id": "loss", "value": value}]}


def complete(client: Any, trial: Any, value: float) -> Any:
    request = {"name": trial.name, "final_measurement": reading(value)}
    return client.complete_trial(request=request)


def test_a_loop_of_20_trials_finds_better_and_better_points(connect: Callable[[], Any]) -> None:
    client = connect()
    study = create(client, "loop")
    losses = []
    for _ in range(20):
        (trial,) = suggest(client, study, 1, "worker").trials
        losses.append(loss(trial))
        complete(client, trial, losses[-1])
    assert min(losses[:3]) > 5 * min(losses)
    assert min(losses) < 1
    (best,) = client.list_optimal_trials(request={"parent": study}).optimal_trials
    assert best.final_measurement.metrics[0].value == min(losses)
    assert len(list(client.list_trials(parent=study))) == 20


def test_two_clients_get_trials_of_their_own(connect: Callable[[], Any]) -> None:
    study = create(connect(), "parallel")

    def work(worker: str) -> list[str]:
        client = connect()
        names = []
        for _ in range(5):
            (trial,) = suggest(client, study, 1, worker).trials
            assert trial.client_id == worker
            complete(client, trial, loss(trial))
            names.append(trial.name)
        return names

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, ["a", "b"])
    assert len({*first, *second}) == 10
    trials = list(connect().list_trials(parent=study))
    assert {trial.state.name for trial in trials} == {"SUCCEEDED"}
    assert [trial.id for trial in trials] == [str(number) for number in range(1, 11)]


def test_a_client_goes_on_where_it_was_after_a_restart(
    service: RunningService, connect: Callable[[], Any]
) -> None:
    client = connect()
    study = create(client, "restart")
    operation = client.suggest_trials(
        request={"parent": study, "suggestion_count": 2, "client_id": "a"}
    )
    before = operation.result()
    trial = before.trials[0]
    client.add_trial_measurement(request={"trial_name": trial.name, "measurement": reading(2, 1)})
    service.kill()
    service.start()
    client = connect()
    named = client.transport.operations_client.get_operation(operation.operation.name)
    assert aiplatform_v1.SuggestTrialsResponse.deserialize(named.response.value) == before
    again = suggest(client, study, 2, "a")
    assert [each.name for each in again.trials] == [each.name for each in before.trials]
    done = client.complete_trial(request={"name": trial.name})
    assert done.final_measurement.metrics[0].value == 2
    assert done.start_time == trial.start_time


def test_a_value_that_is_no_number_and_an_infeasible_point(connect: Callable[[], Any]) -> None:
    client = connect()
    study = create(client, "failures")
    lost, broken, fine = suggest(client, study, 3, "a").trials
    assert math.isnan(complete(client, lost, math.nan).final_measurement.metrics[0].value)
    request = {
        "name": broken.name,
        "trial_infeasible": True,
        "infeasible_reason": "out of memory",
    }
    told = client.complete_trial(request=request)
    assert (told.state.name, told.infeasible_reason) == ("INFEASIBLE", "out of memory")
    complete(client, fine, 7)
    optimal = client.list_optimal_trials(request={"parent": study}).optimal_trials
    assert [trial.name for trial in optimal] == [fine.name]
    with pytest.raises(exceptions.BadRequest, match="has ended as INFEASIBLE"):
        complete(client, broken, 1)
    assert len(suggest(client, study, 2, "a").trials) == 2


def test_a_trial_that_is_clearly_worse_is_to_stop(connect: Callable[[], Any]) -> None:
    client = connect()
    study = create(client, "median", median_automated_stopping_spec={})
    *good, bad = suggest(client, study, 6, "a").trials
    for trial in good:
        for step in (1, 2):
            request = {"trial_name": trial.name, "measurement": reading(1 / step, step)}
            client.add_trial_measurement(request=request)
        client.complete_trial(request={"name": trial.name})
    request = {"trial_name": bad.name, "measurement": reading(9, 2)}
    client.add_trial_measurement(request=request)
    checked = client.check_trial_early_stopping_state(request={"trial_name": bad.name})
    assert checked.result().should_stop
    assert checked.metadata.trial == bad.name
    assert client.get_trial(name=bad.name).state.name == "STOPPING"
    assert client.complete_trial(request={"name": bad.name}).state.name == "SUCCEEDED"


def test_a_study_is_found_again_by_its_display_name(connect: Callable[[], Any]) -> None:
    client = connect()
    study = create(client, "found")
    assert create(client, "found") == study
    with pytest.raises(exceptions.Conflict, match="with another studySpec"):
        create(client, "found", algorithm="RANDOM_SEARCH")
    found = client.lookup_study(request={"parent": PARENT, "display_name": "found"})
    assert found.name == study
    point = [
        {"parameter_id": "x", "value": 3},
        {"parameter_id": "y", "value": -2},
        {"parameter_id": "shape", "value": "bowl"},
    ]
    own = client.create_trial(parent=study, trial={"parameters": point})
    (trial,) = suggest(client, study, 1, "a").trials
    assert trial.name == own.name
    assert loss(trial) == 0
    assert client.stop_trial(request={"name": trial.name}).state.name == "STOPPING"
    client.delete_trial(name=trial.name)
    client.delete_study(name=study)
    with pytest.raises(exceptions.NotFound):
        client.get_study(name=study)
    assert study not in [each.name for each in client.list_studies(parent=PARENT)]
