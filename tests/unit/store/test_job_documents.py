import json
from dataclasses import fields, replace

import pytest
from hypothesis import given

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import (
    ClusterVariable,
    ContainerProgram,
    Directory,
    DiskSpec,
    Ending,
    Exit,
    ExitKind,
    JobEvent,
    JobSpec,
    MachineSpec,
    PythonProgram,
    Replica,
    Scheduling,
    WorkerPool,
)
from footplate.domain.pipelines import ModelUpload, Pipeline
from footplate.domain.studies.limits import StudyLimits
from footplate.domain.studies.metrics import Goal, Metric
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import HalvingSpec
from footplate.domain.studies.study import StudyConfig
from footplate.domain.tuning.search import Search, TrialCounts
from footplate.store import job_documents
from footplate.store.json_column import read
from footplate.store.timestamps import to_micros
from tests.support import strategies
from tests.support.jobs import CREATED

SPEC = JobSpec(
    region="us-central1",
    pools=(
        WorkerPool(
            cluster_role="master",
            replica_prefix="master-replica",
            machine=MachineSpec("n1-standard-4", "NVIDIA_TESLA_T4", 2),
            replica_count=1,
            program=PythonProgram("2.21", ("gs://b/t.tar.gz",), "trainer.task", ("--x", "1")),
            environment=(("B", "1"), ("A", "$(B)")),
            disk=DiskSpec("pd-standard", 200),
        ),
        WorkerPool(
            cluster_role="worker",
            replica_prefix="worker-replica",
            machine=MachineSpec("n1-standard-4"),
            replica_count=2,
            program=ContainerProgram("gcr.io/p/i:1", None, ()),
        ),
    ),
    scheduling=Scheduling(3600.0, 60.5, 3, 4, 2, restarts_together=True),
    job_dir="gs://b/job",
    directories=(
        Directory("AIP_MODEL_DIR", "gs://b/model/", leaf="model/"),
        Directory(None, "gs://b/made/"),
    ),
    environment=(("CLOUD_ML_PROJECT_ID", "p"),),
    cluster_variables=frozenset(ClusterVariable),
    chief_role="master",
    cluster_job='{"a": 1}',
    trial="7",
    metrics=("loss", "acc"),
    search=Search(
        StudyConfig(
            SearchSpace(
                (
                    DoubleParameter("lr", 0.001, 1.0, Scale.LOG, 0.1),
                    CategoricalParameter(
                        "opt",
                        ("sgd", "adam"),
                        branches=(Branch(("sgd",), IntegerParameter("k", 1, 9)),),
                    ),
                    DiscreteParameter("batch", (16.0, 32.0), Scale.REVERSE_LOG),
                )
            ),
            (Metric("loss", Goal.MINIMIZE),),
            stopping=HalvingSpec(),
            limits=StudyLimits(max_trials=9, max_end=CREATED),
        ),
        TrialCounts(20, 4, 3),
        "older",
    ),
    service_account="a@b",
    network="n",
    web_access=True,
)

SEARCH_V1 = (
    '{"study":{"space":[{"name":"lr","kind":"double","range":[0.001,1.0],"scale":"log",'
    '"default":0.1},{"name":"opt","kind":"categorical","values":["sgd","adam"],'
    '"branches":[[["sgd"],{"name":"k","kind":"integer","range":[1,9],"scale":"none"}]]},'
    '{"name":"batch","kind":"discrete","values":[16.0,32.0],"scale":"reverse log"}],'
    '"metrics":[["loss","minimize"]],"algorithm":"bayesian","noise":"low","selection":"last",'
    '"stopping":{"kind":"halving","reduction":3,"grace":0.1,"use_elapsed":false},'
    '"limits":{"stop_asap":false,"min_trials":null,"max_trials":9,'
    '"max_trials_no_progress":null,"max_duration_no_progress_s":null,"min_duration_s":null,'
    '"min_end":null,"max_duration_s":null,"max_end":1767323045678901}},'
    '"counts":[20,4,3],"resumes":"older"}'
)
SPEC_V1 = (
    '{"v":1,"region":"us-central1","pools":[{"cluster_role":"master",'
    '"replica_prefix":"master-replica","machine":["n1-standard-4","NVIDIA_TESLA_T4",2],'
    '"replica_count":1,"program":{"kind":"python","runtime":"2.21",'
    '"package_uris":["gs://b/t.tar.gz"],"module":"trainer.task","args":["--x","1"]},'
    '"environment":[["B","1"],["A","$(B)"]],"disk":["pd-standard",200]},'
    '{"cluster_role":"worker","replica_prefix":"worker-replica",'
    '"machine":["n1-standard-4",null,0],"replica_count":2,"program":{"kind":"container",'
    '"image_uri":"gcr.io/p/i:1","command":null,"args":[]},"environment":[],'
    '"disk":["pd-ssd",100]}],"scheduling":{"max_running_time_s":3600.0,'
    '"max_wait_time_s":60.5,"priority":3,"max_restarts":4,"max_retries":2,"restarts_together":true},"job_dir":"gs://b/job",'
    '"directories":[["AIP_MODEL_DIR","gs://b/model/","model/"],[null,"gs://b/made/"]],'
    '"environment":[["CLOUD_ML_PROJECT_ID","p"]],'
    '"cluster_variables":["CLUSTER_SPEC","TF_CONFIG"],"chief_role":"master",'
    '"cluster_job":"{\\"a\\": 1}","trial":"7","metrics":["loss","acc"],"search":'
    + SEARCH_V1
    + ',"service_account":"a@b","network":"n",'
    '"web_access":true}'
)
"""As databases hold it: must be read for ever, whatever a newer version writes."""

REPLICAS = (
    Replica("master-replica-0", Phase.EXITED, Exit(ExitKind.EXITED, 1, "ValueError: bad")),
    Replica("worker-replica-0"),
)
REPLICAS_V1 = (
    '{"v":1,"replicas":[{"name":"master-replica-0","phase":"EXITED",'
    '"exit":{"kind":"EXITED","code":1,"cause":"ValueError: bad"}},'
    '{"name":"worker-replica-0","phase":"WAITING","exit":null}]}'
)

ENDING = Ending(State.FAILED, Code.INTERNAL, "why")
ENDING_V1 = '{"v":1,"state":"FAILED","code":"INTERNAL","message":"why"}'

EVENT = JobEvent(CREATED, "STATE", "why", 2, "master-replica-0", "k")
EVENT_V1 = '{"v":1,"kind":"STATE","message":"why","attempt":2,"replica":"master-replica-0"}'


def test_documents_of_version_1_are_read() -> None:
    assert job_documents.read_spec(SPEC_V1) == SPEC
    assert job_documents.read_replicas(REPLICAS_V1) == REPLICAS
    assert job_documents.read_ending(ENDING_V1) == ENDING
    assert job_documents.read_labels('{"v":1,"labels":[["a","1"]]}') == (("a", "1"),)
    assert job_documents.read_event(EVENT_V1, to_micros(CREATED), "k") == EVENT


def test_a_spec_that_was_written_before_there_were_trials_is_read() -> None:
    older = SPEC_V1.replace('"trial":"7",', "")
    assert older != SPEC_V1
    assert job_documents.read_spec(older) == replace(SPEC, trial=None)


def test_a_spec_that_was_written_before_there_were_tuning_jobs_is_read() -> None:
    older = SPEC_V1.replace('"metrics":["loss","acc"],"search":' + SEARCH_V1 + ",", "")
    older = older.replace(',"model/"]', "]")
    made = (Directory("AIP_MODEL_DIR", "gs://b/model/"), SPEC.directories[1])
    assert "loss" not in older
    assert job_documents.read_spec(older) == replace(
        SPEC, metrics=(), search=None, directories=made
    )


def test_documents_are_written_as_version_1() -> None:
    assert job_documents.write_spec(SPEC) == SPEC_V1
    assert job_documents.write_replicas(REPLICAS) == REPLICAS_V1
    assert job_documents.write_ending(ENDING) == ENDING_V1
    assert job_documents.write_event(EVENT) == EVENT_V1


def test_what_newer_versions_add_to_replicas_is_kept() -> None:
    lost = Replica("worker-replica-0", Phase.GONE, None, ended_at=CREATED, ended_as=2, loss="x")
    late = Replica("evaluator-replica-0", Phase.RUNNING, overdue=True)
    back = Replica("worker-replica-1", restart=3, losses=2, echoes=1, upset_at=CREATED)
    text = job_documents.write_replicas((lost, late, back))

    assert job_documents.read_replicas(text) == (lost, late, back)
    assert f'"ended":[{to_micros(CREATED)},2],"loss":"x"' in text


def test_every_field_of_a_spec_is_in_its_document() -> None:
    """``data`` and ``pipeline`` are written where they are set only."""
    pipeline = Pipeline("d", "{}", ModelUpload("{}", "gs://b/m/", "id", "parent"), "m@1")
    spec = replace(SPEC, pipeline=pipeline, data=(("AIP_TEST_DATA_URI", "gs://b/test-*.csv"),))
    text = job_documents.write_spec(spec)
    assert {field.name for field in fields(JobSpec)} == json.loads(text).keys() - {"v"}
    assert job_documents.read_spec(text) == spec


@given(strategies.specs)
def test_a_spec_comes_back_as_it_was(spec: JobSpec) -> None:
    text = job_documents.write_spec(spec)
    assert job_documents.read_spec(text) == spec
    assert text.isascii()
    assert "\0" not in text


@given(strategies.replicas, strategies.replicas)
def test_replicas_come_back_as_they_were(one: Replica, other: Replica) -> None:
    assert job_documents.read_replicas(job_documents.write_replicas((one, other))) == (one, other)


@given(strategies.endings)
def test_an_ending_comes_back_as_it_was(ending: Ending) -> None:
    assert job_documents.read_ending(job_documents.write_ending(ending)) == ending


@given(strategies.events)
def test_an_event_comes_back_as_it_was(event: JobEvent) -> None:
    text = job_documents.write_event(event)
    assert job_documents.read_event(text, to_micros(event.time), event.key) == event


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"v":2}', '{"v":"1"}', "{", "1"])
def test_what_is_no_document_of_a_known_version_is_not_guessed(text: str) -> None:
    with pytest.raises(ValueError, match=r"document|Expecting"):
        read(text)
