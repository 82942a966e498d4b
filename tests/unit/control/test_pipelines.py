"""How training pipelines are brought forward, wherever the service dies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.control.data_exports import ExportedData
from footplate.domain.errors import Code, FailedPrecondition, NotFound, Unavailable
from footplate.domain.job_states import State
from footplate.domain.names import CustomJobName, pipeline_model_name
from footplate.domain.pipelines import InputData, ModelUpload
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import TrialState
from tests.support.models import make_model
from tests.support.pipeline_rig import UPLOAD, PipelineRig
from tests.support.trials import SEARCH, succeeded

WRITES = 30
"""More points than a pipeline has from its beginning to its end."""


def test_the_job_behind_it_is_a_job_of_its_own() -> None:
    rig = PipelineRig(None)
    rig.settle()
    assert rig.backing.name == CustomJobName("demo", "us-central1", "17")
    assert rig.backing.display_name == "a-custom-job"
    assert rig.backing.request == '{"jobSpec":{}}'
    assert rig.backing.author == rig.job.author == "ann"
    assert (rig.backing.spec.runs_itself, rig.backing.tuning_job) == (True, None)
    assert (rig.job.state, rig.woken) == (State.QUEUED, 1)


def test_it_follows_its_job() -> None:
    rig = PipelineRig(None)
    rig.settle()
    running = rig.begin()
    assert (running.state, running.start_time) == (State.RUNNING, rig.backing.start_time)
    assert rig.end(State.SUCCEEDED, Code.OK).state is State.SUCCEEDED


def test_a_job_that_was_never_seen_running_counts_as_run() -> None:
    rig = PipelineRig(None)
    rig.settle()
    assert rig.end(State.SUCCEEDED, Code.OK).state is State.SUCCEEDED


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_an_end_that_is_no_success_has_a_code(state: State) -> None:
    rig = PipelineRig(None)
    rig.settle()
    job = rig.end(state, Code.OK, "why")
    assert job.state is state
    assert job.ending is not None
    assert job.ending.code is Code.UNKNOWN
    assert job.ending.message == "projects/demo/locations/us-central1/customJobs/17: why"


def test_cancelling_cancels_the_job() -> None:
    rig = PipelineRig(None)
    rig.settle()
    rig.begin()
    rig.cancel()
    rig.settle()
    assert rig.job.state is State.CANCELLING
    assert rig.backing.ending is not None
    assert rig.backing.ending.state is State.CANCELLED
    job = rig.end(State.CANCELLED, Code.CANCELLED)
    assert job.ending is not None
    assert (job.state, job.ending.code) == (State.CANCELLED, Code.CANCELLED)


def test_one_that_is_cancelled_before_its_job_exists_never_has_one() -> None:
    rig = PipelineRig(None)
    rig.cancel()
    assert rig.settle().state is State.CANCELLED
    with pytest.raises(NotFound):
        _ = rig.backing


def test_success_makes_the_model() -> None:
    rig = PipelineRig()
    rig.files.names = ["out/model/saved_model.pb"]
    rig.settle()
    rig.end(State.SUCCEEDED, Code.OK)
    name = pipeline_model_name(rig.job.name)
    version = rig.store.models.get(name).default
    assert rig.pipeline.model == f"{name}@1"
    assert (version.display_name, version.artifact_uri) == ("mymodel", "gs://b/out/model/")
    assert version.pipeline == str(rig.job.name)


def test_without_a_file_there_is_no_model_and_the_end_says_so() -> None:
    rig = PipelineRig()
    rig.settle()
    job = rig.end(State.SUCCEEDED, Code.OK)
    assert (job.state, rig.pipeline.model) == (State.SUCCEEDED, "")
    assert job.ending is not None
    assert "left no file in AIP_MODEL_DIR, gs://b/out/model/" in job.ending.message


def test_a_parent_gets_a_new_version() -> None:
    parent = make_model("old")
    rig = PipelineRig(ModelUpload(UPLOAD.request, UPLOAD.directory, parent=str(parent.name)))
    rig.store.models.create(parent)
    rig.files.names = ["out/model/x"]
    rig.settle()
    rig.end(State.SUCCEEDED, Code.OK)
    assert rig.pipeline.model == f"{parent.name}@2"


def test_a_model_that_cant_be_made_is_the_failure() -> None:
    rig = PipelineRig(ModelUpload(UPLOAD.request, UPLOAD.directory, model_id="taken"))
    rig.store.models.create(make_model("taken"))
    rig.files.names = ["out/model/x"]
    rig.settle()
    job = rig.end(State.SUCCEEDED, Code.OK)
    assert job.ending is not None
    assert (job.state, job.ending.code) == (State.FAILED, Code.ALREADY_EXISTS)
    assert "the service can't make its model" in job.ending.message


DATA = InputData("projects/demo/locations/us-central1/datasets/17", "gs://b/out")
WRITTEN = ExportedData("gs://b/out/dataset-17", "jsonl", (8, 1, 1), ignored=2)


def test_its_job_begins_once_its_data_is_written() -> None:
    rig = PipelineRig(None, data=DATA)
    assert rig.settle().state is State.QUEUED
    with pytest.raises(NotFound):
        _ = rig.backing
    rig.data.written = WRITTEN
    rig.settle()
    assert dict(rig.backing.spec.data) == {
        "AIP_TRAINING_DATA_URI": "gs://b/out/dataset-17/training-*.jsonl",
        "AIP_VALIDATION_DATA_URI": "gs://b/out/dataset-17/validation-*.jsonl",
        "AIP_TEST_DATA_URI": "gs://b/out/dataset-17/test-*.jsonl",
    }
    assert ("AIP_DATA_FORMAT", "jsonl") in rig.backing.spec.environment
    taken = rig.data.taken
    rig.begin()
    assert rig.end(State.SUCCEEDED, Code.OK).state is State.SUCCEEDED
    assert rig.data.taken == taken
    told = [
        each.event.message for each in rig.store.events(rig.job.uid) if "DATA" in each.event.kind
    ]
    assert told == ["writing the data of dataset 17 to gs://b/out", WRITTEN.describe()]
    assert WRITTEN.describe().endswith("validation and 1 for test; 2 rows are in no set")


def test_data_that_cannot_be_used_is_the_failure() -> None:
    rig = PipelineRig(None, data=DATA)
    rig.data.written = FailedPrecondition("line 3 of gs://b/a.csv is no CSV")
    job = rig.settle()
    assert job.ending is not None
    assert (job.state, job.ending.code) == (State.FAILED, Code.FAILED_PRECONDITION)
    assert job.ending.message == (
        "the data of dataset 17 can't be used: line 3 of gs://b/a.csv is no CSV"
    )
    with pytest.raises(NotFound):
        _ = rig.backing


def test_a_bucket_that_is_away_is_no_failure() -> None:
    rig = PipelineRig(None, data=DATA)
    rig.data.written = Unavailable("the bucket is away")
    with pytest.raises(Unavailable):
        rig.settle()
    rig.data.written = WRITTEN
    assert rig.settle().state is State.QUEUED
    assert rig.backing.spec.data


def test_one_that_is_cancelled_ends_when_nothing_is_written_any_more() -> None:
    rig = PipelineRig(None, data=DATA)
    rig.settle()
    rig.data.stays = True
    rig.cancel()
    assert rig.settle().state is State.CANCELLING
    rig.data.stays = False
    assert rig.settle().state is State.CANCELLED


@pytest.mark.parametrize("point", range(WRITES))
def test_a_death_at_any_point_makes_one_job_with_the_data(point: int) -> None:
    rig = PipelineRig(None, data=DATA)
    rig.data.written = WRITTEN
    rig.crash_point.arm(point)
    rig.settle()
    rig.begin()
    assert rig.end(State.SUCCEEDED, Code.OK).state is State.SUCCEEDED
    assert rig.backing.spec.data
    kinds = [each.event.kind for each in rig.store.events(rig.job.uid)]
    assert kinds == ["QUEUED", "DATA", "DATA_WRITTEN", "PREPARING", "RUNNING", "SUCCEEDED"]


@pytest.mark.parametrize("point", range(WRITES))
def test_a_death_at_any_point_changes_nothing(point: int) -> None:
    """One job, one model with one version, one end, wherever the service dies."""
    rig = PipelineRig()
    rig.files.names = ["out/model/x"]
    rig.crash_point.arm(point)
    rig.settle()
    rig.begin()
    job = rig.end(State.SUCCEEDED, Code.OK)
    assert (job.state, rig.model_versions()) == (State.SUCCEEDED, 1)
    assert rig.pipeline.model == f"{pipeline_model_name(job.name)}@1"
    kinds = [each.event.kind for each in rig.store.events(job.uid)]
    assert kinds == ["QUEUED", "PREPARING", "RUNNING", "MODEL", "SUCCEEDED"]
    jobs = rig.store.list(
        "projects/demo/locations/us-central1/customJobs", where=None, limit=9, after=None
    ).jobs
    assert len(jobs) == 1


def test_a_death_before_a_cancellation_loses_neither() -> None:
    for point in range(WRITES):
        rig = PipelineRig()
        rig.crash_point.arm(point)
        rig.settle()
        rig.begin()
        rig.cancel()
        rig.settle()
        job = rig.end(State.CANCELLED, Code.CANCELLED)
        assert job.state is State.CANCELLED


def tuned(*trials: TrialRecord) -> PipelineRig:
    rig = PipelineRig(search=SEARCH)
    rig.trials = trials
    rig.settle()
    assert rig.backing.spec.search == SEARCH
    return rig


def test_a_tuned_model_is_that_of_the_best_trial() -> None:
    cancelled = replace(succeeded(3, 0.1), state=TrialState.INFEASIBLE)
    rig = tuned(succeeded(1, 0.9), succeeded(2, 0.4), cancelled, succeeded(4, 0.4))
    rig.files.names = ["out/1/model/x", "out/2/model/x", "out/3/model/x"]
    rig.end(State.SUCCEEDED, Code.OK)
    version = rig.store.models.get(pipeline_model_name(rig.job.name)).default
    assert version.artifact_uri == "gs://b/out/2/model/"


@pytest.mark.parametrize(
    ("trials", "said"),
    [
        ((), "no trial has reported its metric"),
        (
            (succeeded(1, 0.9), succeeded(2, 0.4)),
            "the best trial, 2, left no file in AIP_MODEL_DIR, gs://b/out/2/model/",
        ),
    ],
)
def test_a_search_without_a_model_says_why(trials: tuple[TrialRecord, ...], said: str) -> None:
    rig = tuned(*trials)
    rig.files.names = ["out/1/model/x"]
    job = rig.end(State.SUCCEEDED, Code.OK)
    assert job.ending is not None
    assert (job.state, job.ending.message) == (
        State.SUCCEEDED,
        f"the training made no model: {said}",
    )
