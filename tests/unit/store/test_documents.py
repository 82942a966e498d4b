import json
import math
from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, given, settings

from footplate.domain.data_splits import DataSplit, Fractions, SplitMethod
from footplate.domain.directory_form import DirectoryForm
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
    JobSpec,
    MachineSpec,
    PythonProgram,
    Replica,
    Scheduling,
    WorkerPool,
)
from footplate.domain.pipelines import InputData, ModelUpload, Pipeline
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.records import PredictionRecord, SuggestionRecord, TrialRecord
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import HalvingSpec
from footplate.domain.studies.study import StudyConfig, StudyLimits
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.search import Search, TrialCounts
from footplate.store import documents
from footplate.store.documents import Labels, Replicas
from tests.support import strategies, study_strategies
from tests.support.jobs import CREATED
from tests.support.profiles import scaled

brief = settings(
    max_examples=scaled(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

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
    directory_form=DirectoryForm.PATHS,
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

DATA = InputData(
    "projects/demo/locations/us-central1/datasets/17",
    "gs://b/out",
    DataSplit(SplitMethod.STRATA, Fractions(0.8, 0.1), "label"),
    "gs://s/image_classification_1.0.0.yaml",
)
SPEC_DOCUMENT = (
    '{"v":2,"region":"us-central1","pools":[{"cluster_role":"master",'
    '"replica_prefix":"master-replica","machine":{"machine_type":"n1-standard-4",'
    '"accelerator_type":"NVIDIA_TESLA_T4","accelerator_count":2},"replica_count":1,'
    '"program":{"kind":"python","runtime":"2.21","package_uris":["gs://b/t.tar.gz"],'
    '"module":"trainer.task","args":["--x","1"]},"environment":[["B","1"],["A","$(B)"]],'
    '"disk":{"boot_disk_type":"pd-standard","boot_disk_size_gb":200}},{"cluster_role":"worker",'
    '"replica_prefix":"worker-replica","machine":{"machine_type":"n1-standard-4"},'
    '"replica_count":2,"program":{"kind":"container","image_uri":"gcr.io/p/i:1","args":[]},'
    '"disk":{"boot_disk_type":"pd-ssd","boot_disk_size_gb":100}}],'
    '"scheduling":{"max_running_time_s":3600.0,"max_wait_time_s":60.5,"priority":3,'
    '"max_restarts":4,"max_retries":2,"restarts_together":true},"job_dir":"gs://b/job",'
    '"directories":[{"variable":"AIP_MODEL_DIR","uri":"gs://b/model/","leaf":"model/"},'
    '{"variable":null,"uri":"gs://b/made/"}],"directory_form":"paths",'
    '"environment":[["CLOUD_ML_PROJECT_ID","p"]],'
    '"cluster_variables":["CLUSTER_SPEC","TF_CONFIG"],"chief_role":"master",'
    '"cluster_job":"{\\"a\\": 1}","trial":"7","metrics":["loss","acc"],'
    '"search":{"study":{"space":{"parameters":[{"kind":"double","name":"lr","low":0.001,'
    '"high":1.0,"scale":"log","default":0.1},{"kind":"categorical","name":"opt",'
    '"values":["sgd","adam"],"branches":[{"values":["sgd"],"parameter":{"kind":"integer",'
    '"name":"k","low":1,"high":9,"scale":"none"}}]},{"kind":"discrete","name":"batch",'
    '"values":[16.0,32.0],"scale":"reverse log"}]},"metrics":[{"name":"loss",'
    '"goal":"minimize"}],"algorithm":"bayesian","noise":"low","selection":"last",'
    '"stopping":{"kind":"halving","reduction":3,"grace":0.1},"limits":{"max_trials":9,'
    '"max_end":1767323045678901}},"counts":{"trials":20,"parallel":4,"failed":3},'
    '"resumes":"older"},"service_account":"a@b","network":"n","web_access":true}'
)
REPLICAS = Replicas(
    (
        Replica("master-replica-0", Phase.EXITED, Exit(ExitKind.EXITED, 1, "ValueError: bad")),
        Replica("worker-replica-0", Phase.GONE, ended_at=CREATED, ended_as=2, loss="x"),
        Replica("worker-replica-1", restart=3, losses=2, echoes=1, upset_at=CREATED, overdue=True),
    ),
    (("gcr.io/p/i:1", "sha256:0"),),
)
REPLICAS_DOCUMENT = (
    '{"v":2,"replicas":[{"name":"master-replica-0","phase":"EXITED",'
    '"exit":{"kind":"EXITED","code":1,"cause":"ValueError: bad"}},'
    '{"name":"worker-replica-0","phase":"GONE","ended_at":1767323045678901,"ended_as":2,'
    '"loss":"x"},{"name":"worker-replica-1","phase":"WAITING","restart":3,"losses":2,"echoes":1,'
    '"upset_at":1767323045678901,"overdue":true}],"images":[["gcr.io/p/i:1","sha256:0"]]}'
)
ENDING = Ending(State.FAILED, Code.INTERNAL, "why")
ENDING_DOCUMENT = '{"v":2,"state":"FAILED","code":13,"message":"why"}'
TRIAL = TrialRecord(
    number=3,
    point={"lr": 0.5, "k": 2, "opt": "sgd"},
    create_time=CREATED,
    state=TrialState.SUCCEEDED,
    start_time=CREATED,
    ended_as=2,
    suggestion=SuggestionRecord(
        "exploit", "why", 2, (4,), 2, 7, "1.0", (PredictionRecord("loss", 1.0, 0.5, 1.5),), 0.25
    ),
    measurements=(Measurement({"loss": math.inf}, 1, 0.5),),
    final=Measurement({"loss": 0.5}, 9, 1.5),
    outcome=State.SUCCEEDED,
    machine_s=2.5,
    tags_seen=("acc",),
)
TRIAL_DOCUMENT = (
    '{"v":2,"number":3,"point":{"lr":0.5,"k":2,"opt":"sgd"},"create_time":1767323045678901,'
    '"state":"succeeded","start_time":1767323045678901,"ended_as":2,'
    '"suggestion":{"reason":"exploit","sentence":"why","finished":2,"pending":[4],"model":2,'
    '"seed":7,"version":"1.0","predictions":[{"metric":"loss","value":1.0,"low":0.5,'
    '"high":1.5}],"distance":0.25},"measurements":[{"values":{"loss":Infinity},"step":1,'
    '"elapsed_s":0.5}],"final":{"values":{"loss":0.5},"step":9,"elapsed_s":1.5},'
    '"outcome":"SUCCEEDED","machine_s":2.5,"tags_seen":["acc"]}'
)
CASES = [
    (SPEC, SPEC_DOCUMENT),
    (REPLICAS, REPLICAS_DOCUMENT),
    (ENDING, ENDING_DOCUMENT),
    (Labels((("a", "1"),)), '{"v":2,"labels":[["a","1"]]}'),
    (TRIAL, TRIAL_DOCUMENT),
]
"""As databases hold them: must be read for ever, whatever a newer version writes."""


@pytest.mark.parametrize(("value", "text"), CASES)
def test_stored_documents_stay_readable(value: object, text: str) -> None:
    assert documents.read(type(value), text) == value
    assert documents.write(value) == text


def test_a_field_that_an_older_version_did_not_write_has_its_default() -> None:
    older = SPEC_DOCUMENT.replace('"trial":"7",', "")
    assert older != SPEC_DOCUMENT
    assert documents.read(JobSpec, older) == replace(SPEC, trial=None)


def test_a_field_of_a_newer_version_is_ignored() -> None:
    newer = ENDING_DOCUMENT.replace('"code"', '"colour":"red","code"')
    assert documents.read(Ending, newer) == ENDING


def test_every_field_of_a_spec_is_in_its_document() -> None:
    pipeline = Pipeline("d", "{}", ModelUpload("{}", "gs://b/m/", "id", "parent"), DATA, "m@1")
    spec = replace(SPEC, pipeline=pipeline, data=(("AIP_TEST_DATA_URI", "gs://b/test-*.csv"),))
    spec = replace(spec, persistent_resource="night", tensorboard="t")
    text = documents.write(spec)
    assert {field.name for field in fields(JobSpec)} == json.loads(text).keys() - {"v"}
    assert documents.read(JobSpec, text) == spec


@pytest.mark.parametrize("values", [(16, 32), (16.0, 32.5)])
def test_integers_stay_integers_where_a_field_is_a_float(values: tuple[float, ...]) -> None:
    """Programs get them as they were given."""
    parameter = DiscreteParameter("batch", values)
    text = documents.write(parameter)
    assert repr(documents.read(DiscreteParameter, text)) == repr(parameter)


def comes_back(value: object) -> None:
    text = documents.write(value)
    assert repr(documents.read(type(value), text)) == repr(value)
    assert text.isascii()
    assert "\0" not in text


@given(strategies.specs)
def test_a_spec_comes_back_as_it_was(spec: JobSpec) -> None:
    assert documents.read(JobSpec, documents.write(spec)) == spec


@given(strategies.replicas, strategies.replicas)
def test_replicas_come_back_as_they_were(one: Replica, other: Replica) -> None:
    comes_back(Replicas((one, other)))


@given(strategies.endings)
def test_an_ending_comes_back_as_it_was(ending: Ending) -> None:
    comes_back(ending)


@given(study_strategies.spaces())
@brief
def test_a_space_comes_back_as_it_was(space: SearchSpace) -> None:
    comes_back(space)


@given(study_strategies.configs)
@brief
def test_a_configuration_comes_back_as_it_was(config: StudyConfig) -> None:
    comes_back(config)


@given(study_strategies.searches)
@brief
def test_a_search_comes_back_as_it_was(search: Search) -> None:
    comes_back(search)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "null", '{"v":3}', '{"v":"2"}', "{", "1"),
        *('{"v":2}', '{"v":2,"state":"FAILED","code":99}', '{"v":2,"state":"LOST"}'),
        '{"v":2,"state":"FAILED","message":1}',
    ],
)
def test_what_is_no_document_is_not_guessed(text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        documents.read(Ending, text)


@pytest.mark.parametrize("document", ["nan", "", "1", None, True, [], {}])
def test_what_is_no_number_is_not_guessed(document: object) -> None:
    text = documents.write_object({"values": {"loss": document}})
    with pytest.raises(ValueError, match="float"):
        documents.read(Measurement, text)
