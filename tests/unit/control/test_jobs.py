"""Submitting, labelling and deleting, over fakes of everything but the buckets' folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.job_queue import Queue
from footplate.control.jobs import Jobs
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.control.tuning.trials import Trials
from footplate.domain.errors import (
    Aborted,
    AlreadyExists,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
    Violation,
)
from footplate.domain.job_states import State
from footplate.domain.jobs import (
    ContainerProgram,
    Directory,
    JobEvent,
    PythonProgram,
    RestartBounds,
)
from footplate.domain.names import JobUid, TrainingJobName, backing_uid
from footplate.domain.pipelines import WRITES_DATA, Pipeline
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.reduction import IMAGE, program
from footplate.domain.sites import Mode, Site
from footplate.domain.submission import Location, Submission
from footplate.ports.logs import Line
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.jobs import CREATED, make_job, make_spec
from tests.support.logs import MemoryLogs
from tests.support.searches import make_run, make_trial, make_tuning_job
from tests.support.sites import make_regions, make_site
from tests.support.store import MemoryStore
from tests.support.study_records import make_study
from tests.support.usage import MemoryUsage
from tests.support.usage_contract import make_sample

NAME = TrainingJobName("demo", "job_1")
PACKAGE = "gs://demo-bucket/trainer-0.1.tar.gz"


class CountingIds:
    def __init__(self) -> None:
        self.count = 0

    def uid(self) -> JobUid:
        self.count += 1
        return JobUid(f"uid{self.count}")

    def number(self) -> int:
        self.count += 1
        return 7_000_000_000_000_000_000 + self.count


class Desk:
    """The jobs, and everything that they stand on."""

    def __init__(self, folder: Path, site: Site | None = None, *, reduction: bool = True) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.logs = MemoryLogs(self.clock.now)
        self.usage = MemoryUsage()
        self.buckets = FolderBuckets(folder, self.clock)
        self.engine = FakeContainerEngine()
        self.woken = 0
        self.full = False
        regions, quotas = make_regions(site), Quotas((Quota("poor", "*", {"vcpus": 2}),))
        queue = Queue(self.store, regions, built_in(), 3600.0, self.clock)
        searches = SearchResolver(self.store, PriorStudies(self.store, self.store.studies))
        submission_checks = SubmissionChecks(
            self.buckets,
            built_in(),
            regions,
            lambda: quotas,
            RestartBounds(),
            searches,
            self.engine,
            reduction=reduction,
        )
        self.jobs = Jobs(
            self.store,
            self.logs,
            self.usage,
            submission_checks,
            queue,
            Trials(self.store, self.store.studies, MeasurementCache(self.store.studies)),
            self.clock,
            CountingIds(),
            self._wake,
            check_room=self._check_room,
        )

    def _check_room(self) -> None:
        if self.full:
            raise Unavailable("disk full: 0 MiB free")

    def _wake(self) -> None:
        self.woken += 1


@pytest.fixture
def context(tmp_path: Path) -> Desk:
    return furnished(Desk(tmp_path / "buckets"))


def furnished(context: Desk) -> Desk:
    context.buckets.create_bucket("demo-bucket")
    context.buckets.write("demo-bucket", "trainer-0.1.tar.gz", [b"..."])
    return context


def submission(
    *,
    runtime: str = "version:2.21/",
    package: str = PACKAGE,
    job_dir: str = "gs://demo-bucket/out",
    name: TrainingJobName | Location = NAME,
) -> Submission:
    spec = make_spec(program=PythonProgram(runtime, (package,), "trainer.task"))
    pool = replace(spec.primary, field="trainingInput")
    directory = Directory(None, job_dir, "trainingInput.jobDir")
    spec = replace(spec, pools=(pool,), directories=(directory,), job_dir=job_dir)
    return Submission(name, "", spec, "{}", warnings=("it is late",))


def test_a_full_disk_refuses_a_job_and_nothing_else(context: Desk) -> None:
    job = context.jobs.submit(submission())
    context.full = True
    with pytest.raises(Unavailable, match="disk full"):
        context.jobs.submit(submission(name=TrainingJobName("demo", "another")))
    context.jobs.cancel(job.name)
    assert context.store.get(job.name).state is State.CANCELLED


def test_a_good_job_is_kept_with_its_first_events_and_wakes_the_loop(context: Desk) -> None:
    job = context.jobs.submit(submission(), "ann")

    assert context.store.get(NAME) == job
    assert job.author == "ann"
    assert job.state is State.QUEUED
    kinds = [(e.event.kind, e.event.message) for e in context.store.events(job.uid)]
    assert kinds == [("QUEUED", ""), ("WARNING", "it is late")]
    assert context.woken == 1


def test_what_the_request_says_wrong_is_told_with_what_is_missing(context: Desk) -> None:
    told = (Violation("trainingInput.jobDir", "bad"), Violation("labels", "too many"))
    bad = replace(submission(runtime="version:2.40/", job_dir="gs://no-bucket/"), violations=told)

    with pytest.raises(InvalidArgument) as caught:
        context.jobs.submit(bad)

    fields = [v.field for v in caught.value.violations]
    assert fields == ["trainingInput.jobDir", "labels", "trainingInput.runtimeVersion"]
    assert caught.value.violations[0].description == "bad"


def test_a_valid_job_that_this_server_can_not_run(tmp_path: Path) -> None:
    context = furnished(Desk(tmp_path / "buckets", reduction=False))
    spec = submission().spec
    reducers = replace(spec.primary, cluster_role="workerpool2", program=program(IMAGE))

    with pytest.raises(FailedPrecondition, match="footplate-reduction"):
        context.jobs.submit(
            replace(submission(), spec=replace(spec, pools=(spec.primary, reducers)))
        )

    assert context.store.active() == ()


def test_an_image_is_refused_where_no_engine_runs(context: Desk) -> None:
    spec = make_spec(program=ContainerProgram("gcr.io/p/i:1"))
    pool = replace(spec.primary, field="here")
    contained = replace(submission(), spec=replace(spec, pools=(pool,)))
    context.engine.fault = "no container engine runs on this machine: install one"

    with pytest.raises(InvalidArgument) as caught:
        context.jobs.submit(contained)

    assert [(v.field, v.description) for v in caught.value.violations] == [
        (
            "here.imageUri",
            f"gcr.io/p/i:1 given, which is a container image: {context.engine.fault}",
        )
    ]
    assert context.store.active() == ()


def test_an_image_comes_in_where_an_engine_runs(context: Desk) -> None:
    contained = replace(submission(), spec=make_spec(program=ContainerProgram("gcr.io/p/i:1")))

    assert context.jobs.submit(contained).state is State.QUEUED


def test_a_job_that_its_quota_never_allows(context: Desk) -> None:
    with pytest.raises(ResourceExhausted) as caught:
        context.jobs.submit(submission(name=TrainingJobName("poor", "job_1")))

    assert "the job asks for 4 vCPUs, but project poor may hold only 2 vCPUs in us-central1" in str(
        caught.value
    )
    assert "footplate quotas set" in str(caught.value)


def test_a_job_that_can_never_fit_where_machines_are_reserved(tmp_path: Path) -> None:
    context = Desk(tmp_path / "buckets", make_site(Mode.ENFORCE, vcpus=2, memory_gb=64))
    context.buckets.create_bucket("demo-bucket")
    context.buckets.write("demo-bucket", "trainer-0.1.tar.gz", [b"..."])

    with pytest.raises(FailedPrecondition, match="asks for 4 vCPUs, but this machine has 2 vCPUs"):
        context.jobs.submit(submission())


def test_the_service_chooses_numeric_ids_where_the_client_does_not(context: Desk) -> None:
    job = context.jobs.submit(submission(name=Location("demo", "us-central1")))

    assert str(job.name).startswith("projects/demo/locations/us-central1/customJobs/7000")


def test_all_that_is_missing_is_said_at_once_and_nothing_is_made(context: Desk) -> None:
    bad = submission(
        runtime="version:2.40/", package="gs://demo-bucket/no.tar.gz", job_dir="gs://no-bucket/x"
    )

    with pytest.raises(InvalidArgument) as caught:
        context.jobs.submit(bad)

    said = {v.field: v.description for v in caught.value.violations}
    assert list(said) == [
        "trainingInput.jobDir",
        "trainingInput.runtimeVersion",
        "trainingInput.packageUris[0]",
    ]
    assert "footplate storage buckets create gs://no-bucket" in said["trainingInput.jobDir"]
    assert "2.21" in said["trainingInput.runtimeVersion"]
    assert "does not exist" in said["trainingInput.packageUris[0]"]
    assert context.store.active() == ()
    assert context.woken == 0


@pytest.mark.parametrize("end", ["", "/"])
def test_a_job_directory_that_is_an_object(context: Desk, end: str) -> None:
    with pytest.raises(InvalidArgument, match=r"trainingInput\.jobDir: .* is an object"):
        context.jobs.submit(submission(job_dir=PACKAGE + end))


@pytest.mark.parametrize("uri", ["s3://demo-bucket/x", "gs://demo-bucket/../x", "gs://no-bucket/x"])
def test_bad_packages(context: Desk, uri: str) -> None:
    with pytest.raises(InvalidArgument, match=r"trainingInput\.packageUris\[0\]"):
        context.jobs.submit(submission(package=uri))


def test_the_same_name_twice(context: Desk) -> None:
    first = context.jobs.submit(submission())

    with pytest.raises(AlreadyExists):
        context.jobs.submit(submission())
    assert context.store.get(NAME) == first


def test_delete_wants_an_end(context: Desk) -> None:
    job = make_job(NAME)
    context.store.create(job, ())

    with pytest.raises(FailedPrecondition, match="is QUEUED; cancel it"):
        context.jobs.delete(NAME)

    context.jobs.cancel(NAME)
    assert context.woken == 1, "whoever follows must see to it"
    assert context.jobs.get(NAME).state is State.CANCELLED
    context.jobs.cancel(NAME)
    context.logs.append(job.uid, 1, "master-replica-0", [Line(1, CREATED, "INFO", "hello")])
    context.usage.append(job.uid, 1, "master-replica-0", [make_sample(2)])
    context.jobs.delete(NAME)
    assert context.usage.replicas(job.uid) == ()
    assert context.store.list(NAME.collection, where=None, limit=1, after=None).jobs == ()
    assert context.logs.read(job.uid, 0, 10).entries == ()


def test_a_pipeline_takes_the_job_behind_it_along_where_asked(context: Desk) -> None:
    pipeline = replace(
        make_job("projects/demo/locations/us-central1/trainingPipelines/17", uid="abc"),
        spec=replace(make_spec(), pipeline=Pipeline("a-custom-job", "{}", None)),
    )
    behind = make_job(
        "projects/demo/locations/us-central1/customJobs/17", uid=backing_uid(pipeline.uid)
    )
    for job in (pipeline, behind):
        context.store.create(replace(job, state=State.SUCCEEDED, end_time=CREATED), ())
    context.logs.append(behind.uid, 1, "workerpool0-0", [Line(1, CREATED, "INFO", "hello")])
    context.jobs.delete(pipeline.name, backing=True)
    for job in (pipeline, behind):
        with pytest.raises(NotFound):
            context.jobs.get(job.name)
    assert context.logs.read(behind.uid, 0, 10).entries == ()


def test_labels_are_guarded_by_the_version(context: Desk) -> None:
    context.store.create(make_job(NAME), ())

    changed = context.jobs.set_labels(NAME, (("a", "b"),), version=1)
    assert (changed.labels, changed.version) == ((("a", "b"),), 2)
    with pytest.raises(Aborted, match="etag"):
        context.jobs.set_labels(NAME, (), version=1)
    assert context.jobs.set_labels(NAME, (), version=None).version == 3


def test_labels_and_note_are_changed_each_by_itself(context: Desk) -> None:
    context.store.create(make_job(NAME), ())
    context.jobs.annotate(NAME, (("a", "b"),), None)
    noted = context.jobs.annotate(NAME, None, "the best so far")
    assert (noted.labels, noted.note, noted.version) == ((("a", "b"),), "the best so far", 3)
    assert context.store.get(NAME) == noted
    assert context.jobs.annotate(NAME, (), "").note == ""


def test_a_tuning_job_that_has_not_begun_waits_for_what_its_first_trial_waits_for(
    context: Desk,
) -> None:
    search = make_tuning_job()
    context.store.create(search, ())
    assert context.jobs.explain(search) is None
    study = make_study(None, uid=search.uid)
    context.store.studies.create(study)
    context.store.studies.write(replace(study, version=2), [make_trial(1), make_trial(2)])
    runs = [make_run(search, number) for number in (1, 2)]
    for run in runs:
        context.store.create(run, ())
    first, second = (context.jobs.explain(run) for run in runs)
    assert first is not None
    assert second != first
    assert context.jobs.explain(search) == first
    assert context.jobs.explain(replace(search, state=State.RUNNING)) is None


def test_a_pipeline_whose_data_is_being_written_waits_for_that(context: Desk) -> None:
    pipeline = replace(make_job(NAME), spec=replace(make_spec(), pipeline=Pipeline("", "{}")))
    context.store.create(pipeline, ())
    assert context.jobs.explain(pipeline) is None
    event = JobEvent(CREATED, WRITES_DATA, "writing the data of dataset 7 to gs://b/x")
    context.store.append(pipeline.uid, (event,))
    explanation = context.jobs.explain(pipeline)
    assert explanation is not None
    assert explanation.text.endswith("s: writing the data of dataset 7 to gs://b/x.")
    assert context.jobs.explain(replace(pipeline, state=State.FAILED)) is None
