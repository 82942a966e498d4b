"""Of each effective value of a job, what chose it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from footplate.console.effective_spec import effective_values, look_up
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.jobs import Job, Scheduling
from footplate.wire.footplate_v1.jobs import details_json
from tests.support.jobs import make_custom_name, make_job, make_spec, make_training_name


def _values(job: Job, request: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    details = {**details_json(job, None), "request": request}
    return {each.title: (each.text, each.field, each.why) for each in effective_values(details)}


def test_what_the_request_of_a_training_job_gives_is_named() -> None:
    scheduling = Scheduling(max_running_time_s=3600.0, priority=3)
    job = make_job(make_training_name(), spec=make_spec(scheduling=scheduling))
    training = {
        "scaleTier": "CUSTOM",
        "masterType": "n1-standard-4",
        "region": "us-central1",
        "scheduling": {"maxRunningTime": "3600s", "priority": 3},
    }
    found = _values(job, {"trainingInput": training})
    assert found["region"] == ("us-central1", "trainingInput.region", "")
    assert found["master: machines"][1] == "trainingInput.masterType"
    running = ("1 h", "trainingInput.scheduling.maxRunningTime", "")
    assert found["longest running time"] == running
    assert found["priority"] == ("3", "trainingInput.scheduling.priority", "")


def test_defaults_say_why() -> None:
    found = _values(make_job(make_training_name()), {"trainingInput": {"scaleTier": "BASIC"}})
    assert found["master: machines"][2] == "the machines of the scale tier BASIC"
    assert found["longest running time"][::2] == (
        "7 d",
        "default, as in both of Google's services: a week",
    )
    assert found["restarts of lost replicas"][::2] == ("5", "this service's setting max_restarts")
    assert found["directories"] == ("none", "", "default: none")


def test_a_custom_jobs_pools_are_found_by_their_place() -> None:
    name = make_custom_name()
    job = make_job(name, spec=make_spec(name, workers=2))
    pools = [{"machineSpec": {"machineType": "a"}}, {"diskSpec": {"bootDiskSizeGb": 100}}]
    found = _values(job, {"jobSpec": {"workerPoolSpecs": pools, "enableWebAccess": True}})
    assert found["workerpool0: machines"][1] == "jobSpec.workerPoolSpecs[0].machineSpec.machineType"
    assert found["workerpool1: boot disk"][1] == "jobSpec.workerPoolSpecs[1].diskSpec"
    assert found["workerpool0: boot disk"][1] == ""
    assert found["shell in replicas"][1] == "jobSpec.enableWebAccess"
    assert "FLEX_START" in found["longest waiting time"][2]


def test_directories_that_programs_get_as_paths_are_said_to_be() -> None:
    name = make_custom_name()
    spec = replace(make_spec(name), directory_form=DirectoryForm.PATHS)
    text, _, _ = _values(make_job(name, spec=spec), {"jobSpec": {}})["directories"]
    assert text.startswith("gs://demo-bucket/output/")
    assert text.endswith("/logs/ (programs get paths)")


def test_a_waiting_time_by_default_is_that_of_flex_start() -> None:
    name = make_custom_name()
    spec = make_spec(name)
    waiting = replace(spec.scheduling, max_wait_time_s=86_400.0)
    found = _values(make_job(name, spec=replace(spec, scheduling=waiting)), {"jobSpec": {}})
    assert found["longest waiting time"][::2] == (
        "1 d",
        ("default of the strategy FLEX_START: a day"),
    )


@pytest.mark.parametrize("request_", [{}, {"a": None}, {"a": []}, {"a": {"b": "text"}}, {"a": 3}])
def test_what_is_not_there_is_none(request_: dict[str, Any]) -> None:
    assert look_up(request_, "a.b[0].c") is None
    assert look_up(request_, "a[master].c") is None
