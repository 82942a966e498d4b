"""What submitting a job would lead to; nothing is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.preflight import NOTHING, Staging
from footplate.control.regions import Binding, Regions
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.control.validation import Validation
from footplate.domain.admission import Explanation
from footplate.domain.errors import Unavailable, Violation
from footplate.domain.jobs import (
    Directory,
    JobSpec,
    MachineSpec,
    PythonProgram,
    RestartBounds,
)
from footplate.domain.names import GcsUri, TrainingJobName
from footplate.domain.preview.source_patterns import Pattern, Use
from footplate.domain.preview.verdict import Outlook
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.reduction import IMAGE, program
from footplate.domain.sites import Mode
from footplate.domain.submission import Location, Submission, Tuning
from footplate.ports.backend import ReplicaMachine
from tests.support.backend import FakeBackend
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.jobs import make_job, make_spec
from tests.support.sites import make_engine_site, make_regions, make_site
from tests.support.store import MemoryStore

NAME = TrainingJobName("demo", "job_1")
PACKAGE = "gs://demo-bucket/trainer-0.1.tar.gz"


class Desk:
    """The validation, and everything that it stands on."""

    def __init__(
        self,
        folder: Path,
        *,
        mode: Mode = Mode.EMULATE,
        quotas: Quotas,
        reduction: bool = True,
        regions: Regions | None = None,
    ) -> None:
        self.store = MemoryStore()
        self.buckets = FolderBuckets(folder, FakeClock())
        self.buckets.create_bucket("demo-bucket")
        self.buckets.write("demo-bucket", "trainer-0.1.tar.gz", [b"..."])
        self.folder = folder
        self.waits: Explanation | None = None
        self.full = False
        self.asked: list[tuple[JobSpec, str]] = []
        self.uses: dict[str, tuple[Use, ...]] = {}
        """What packages use, by their URIs."""
        regions = regions or make_regions(make_site(mode))
        searches = SearchResolver(self.store, PriorStudies(self.store, self.store.studies))
        submission_checks = SubmissionChecks(
            self.buckets,
            built_in(),
            regions,
            lambda: quotas,
            RestartBounds(),
            searches,
            FakeContainerEngine(),
            reduction=reduction,
            patterns=lambda uri: self.uses.get(uri, ()),
        )
        self.validation = Validation(
            self.store,
            submission_checks,
            built_in(),
            regions.site,
            self._outlook,
            self._check_room,
        )

    def _check_room(self) -> None:
        if self.full:
            raise Unavailable("disk full: 0 MiB free")

    def _outlook(self, spec: JobSpec, project: str) -> Explanation | None:
        self.asked.append((spec, project))
        return self.waits


@pytest.fixture
def context(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "buckets", quotas=Quotas())


def submission(
    *,
    package: str = PACKAGE,
    runtime: str = "version:1.15/3.7",
    name: TrainingJobName | Location = NAME,
    machine: MachineSpec | None = None,
) -> Submission:
    spec = make_spec(program=PythonProgram(runtime, (package,), "trainer.task"))
    pool = replace(spec.primary, field="trainingInput", machine=machine or spec.primary.machine)
    return Submission(name, "", replace(spec, pools=(pool,)), "{}", warnings=("it is late",))


def test_a_good_job_that_would_start(context: Desk) -> None:
    given = submission()

    verdict = context.validation.validate(given)

    assert verdict.accepted
    assert verdict.violations == ()
    assert verdict.refusal is None
    assert verdict.queue == Outlook(starts_now=True)
    assert verdict.warnings == ("it is late",)
    assert verdict.parity.accepted is True
    assert verdict.plan is not None
    assert dict(verdict.plan.pools[0].variables)["CLOUD_ML_JOB_ID"] == "job_1"
    assert context.asked == [(given.spec, "demo")]
    assert context.store.active() == ()


def test_buckets_that_are_not_here_unless_the_client_makes_them(context: Desk) -> None:
    given = submission()
    named = ("--data=gs://cloud-samples-data/a.csv", "--tmp=gs://staging/tmp")
    program = PythonProgram("version:1.15/3.7", (PACKAGE,), "trainer.task", named)
    pools = (replace(given.spec.primary, program=program),)
    given = replace(given, spec=replace(given.spec, pools=pools))
    staging = Staging(GcsUri("staging", "job_1/"), makes_bucket=True)

    both = context.validation.validate(given)
    one = context.validation.validate(given, staging)

    _, data, tmp = both.warnings
    assert data.startswith("the job names gs://cloud-samples-data/a.csv, but ")
    assert tmp.startswith("the job names gs://staging/tmp, but ")
    assert one.accepted
    assert one.warnings == both.warnings[:2]


def test_a_good_job_that_would_wait(context: Desk) -> None:
    context.waits = Explanation(3, "room", "4 replicas are held by job_2; it is the third in line")

    verdict = context.validation.validate(submission())

    assert verdict.accepted
    assert verdict.queue == Outlook(
        starts_now=False, place=3, text="4 replicas are held by job_2; it is the third in line"
    )


def test_what_an_engine_can_never_have_is_refused(tmp_path: Path) -> None:
    def fault(machines: Mapping[str, ReplicaMachine]) -> str:
        return f"no nodes for {', '.join(each.machine_type for each in machines.values())}"

    bound = Binding(FakeBackend(), make_engine_site(), "slurm", fault=fault)
    given = submission()
    regions = Regions(make_regions().default, {given.spec.region: bound})
    context = Desk(tmp_path / "buckets", quotas=Quotas(), regions=regions)

    verdict = context.validation.validate(given)

    assert verdict.refusal == (
        "this job can never start in region us-central1: no nodes for n1-standard-4"
    )


def test_a_label_for_slurm_counts_where_the_region_admits_it(tmp_path: Path) -> None:
    admitted = frozenset({"footplate-slurm-qos", "footplate-slurm-reservation"})
    bound = Binding(FakeBackend(), make_engine_site(), "slurm", labels=admitted)
    given, here = submission(), make_regions().default
    there = Desk(
        tmp_path / "there",
        quotas=Quotas(),
        regions=Regions(here, {given.spec.region: bound}),
    )

    def wrong(desk: Desk, **labels: str) -> dict[str, str]:
        named = tuple((f"footplate-slurm-{name}", text) for name, text in labels.items())
        found = desk.validation.validate(replace(given, labels=named)).violations
        return {violation.field: violation.description for violation in found}

    assert wrong(there, qos="high", reservation="maintenance-1") == {}
    assert wrong(there, qos="", account="physics") == {
        "labels.footplate-slurm-qos": "nothing given; allowed: a name that Slurm has",
        "labels.footplate-slurm-account": (
            "region us-central1 doesn't admit this label; allowed: "
            "footplate-slurm-qos, footplate-slurm-reservation"
        ),
    }
    assert wrong(Desk(tmp_path / "here", quotas=Quotas()), qos="high") == {
        "labels.footplate-slurm-qos": (
            "region us-central1 doesn't admit this label; allowed: none of these labels"
        )
    }


def test_a_label_has_programs_get_paths(context: Desk) -> None:
    spec = submission().spec
    out = "gs://demo-bucket/out"
    spec = replace(spec, job_dir=out, directories=(Directory(None, out, "trainingInput.jobDir"),))

    plan = context.validation.validate(replace(submission(), spec=spec)).plan
    assert plan is not None
    assert plan.pools[0].program.args == ("--job-dir", out)

    labels = (("footplate-directories", "paths"),)
    plan = context.validation.validate(replace(submission(), spec=spec, labels=labels)).plan
    assert plan is not None
    assert plan.pools[0].program.args == ("--job-dir", "/gcs/demo-bucket/out")

    wrong = (("footplate-directories", "path"),)
    verdict = context.validation.validate(replace(submission(), labels=wrong))
    assert verdict.violations == (
        Violation("labels.footplate-directories", "'path' given; allowed: uris, paths"),
    )


def test_the_rules_violations_and_what_is_missing_are_told_together(context: Desk) -> None:
    wrong = Violation("trainingInput.region", "required")
    given = replace(submission(package="gs://demo-bucket/no.tar.gz"), violations=(wrong,))

    verdict = context.validation.validate(given)

    assert not verdict.accepted
    assert [violation.field for violation in verdict.violations] == [
        "trainingInput.region",
        "trainingInput.packageUris[0]",
    ]
    assert (verdict.plan, verdict.queue) == (None, None)
    assert verdict.parity.accepted is False
    assert context.asked == []


def test_what_is_only_missing_here_may_be_there(context: Desk) -> None:
    verdict = context.validation.validate(submission(package="gs://no-bucket/t.tar.gz"))

    assert not verdict.accepted
    assert verdict.parity.accepted is None
    assert (
        verdict.parity.reasons[0]
        == "this service refuses trainingInput.packageUris[0], but Google's service may accept it"
    )


def test_of_very_many_that_are_missing_some_are_told(context: Desk) -> None:
    spec = submission().spec
    packages = tuple(f"gs://no-bucket/{number}.tar.gz" for number in range(400))
    program = PythonProgram("version:1.15/3.7", packages, "trainer.task")
    pool = replace(spec.primary, field="trainingInput", program=program)
    given = replace(submission(), spec=replace(spec, pools=(pool,)))

    verdict = context.validation.validate(given)

    assert len(verdict.violations) == 51
    assert verdict.violations[-1] == Violation("request", "350 more violations")
    assert not any(reason.startswith("request ") for reason in verdict.parity.reasons)


def test_where_very_much_is_wrong_nothing_is_looked_for(context: Desk) -> None:
    wrong = tuple(Violation(f"labels.{number}", "wrong") for number in range(50))
    more = Violation("request", "at least 950 more violations")
    given = replace(submission(package="gs://no-bucket/x"), violations=(*wrong, more))

    assert context.validation.validate(given).violations == (*wrong, more)


@pytest.mark.parametrize(
    "given",
    [
        submission(package=f"gs://no-bucket/{'x' * 100_000}"),
        submission(package=f"gs://demo-bucket/{'x' * 1_000}"),
        submission(package=f"http://{'x' * 100_000}"),
        submission(runtime=f"image:{'x' * 100_000}"),
    ],
    ids=["no bucket", "no object", "no URI", "no image"],
)
def test_long_names_are_told_in_short(context: Desk, given: Submission) -> None:
    (violation,) = context.validation.validate(given).violations

    assert len(violation.description) < 400


@pytest.mark.parametrize("bucket", ["demo-bucket", "new-bucket"])
def test_packages_that_the_client_is_going_to_upload(context: Desk, bucket: str) -> None:
    given = submission(package=f"gs://{bucket}/job_1/t.tar.gz")
    staging = Staging(GcsUri(bucket, "job_1/"), makes_bucket=bucket == "new-bucket")

    assert not context.validation.validate(given).accepted
    verdict = context.validation.validate(given, staging)

    assert verdict.accepted
    assert verdict.plan is not None


def test_what_packages_use_that_the_runtime_lacks(context: Desk) -> None:
    """Of those that the client is going to upload it says itself what they use."""
    given, staged = submission(runtime="version:2.21/"), Staging(GcsUri("staging", ""))
    assert not any("estimator" in each for each in warned(context, given))

    context.uses[PACKAGE] = (Use(Pattern.ESTIMATOR, "trainer/task.py:2"),)
    (said,) = [each for each in warned(context, given) if "estimator" in each]
    assert said.startswith("trainer/task.py:2 uses tf.estimator")
    assert not any("estimator" in each for each in warned(context, submission()))

    later = submission(package="gs://staging/t.tar.gz", runtime="version:2.21/")
    staged = replace(staged, uses=(Use(Pattern.ESTIMATOR, "task.py:3"),))
    (said,) = [each for each in warned(context, later, staged) if "estimator" in each]
    assert said.startswith("task.py:3 uses tf.estimator")


def warned(context: Desk, given: Submission, staging: Staging = NOTHING) -> tuple[str, ...]:
    return context.validation.validate(given, staging).warnings


def test_a_directory_in_a_bucket_that_the_client_is_going_to_make(context: Desk) -> None:
    given = submission(package="gs://new-bucket/job_1/t.tar.gz")
    given = replace(given, spec=replace(given.spec, job_dir="gs://new-bucket/out"))
    staging = Staging(GcsUri("new-bucket", "job_1/"), makes_bucket=True)

    plan = context.validation.validate(given, staging).plan

    assert plan is not None
    assert plan.pools[0].program.args == ("--job-dir", "gs://new-bucket/out")


def test_a_name_that_is_taken(context: Desk) -> None:
    context.store.create(make_job(NAME), ())

    verdict = context.validation.validate(submission())

    assert not verdict.accepted
    assert verdict.refusal is not None
    assert "projects/demo/jobs/job_1 already exists" in verdict.refusal
    assert verdict.plan is None
    assert context.validation.validate(submission(name=Location("demo", "us-central1"))).accepted


def test_a_valid_job_that_this_server_can_not_run(tmp_path: Path) -> None:
    context = Desk(tmp_path / "buckets", quotas=Quotas(), reduction=False)
    given = submission(runtime="version:2.21/")
    reducers = replace(given.spec.primary, cluster_role="workerpool2", program=program(IMAGE))
    given = replace(given, spec=replace(given.spec, pools=(*given.spec.pools, reducers)))

    verdict = context.validation.validate(given)

    assert not verdict.accepted
    assert verdict.violations == ()
    assert "footplate-reduction" in (verdict.refusal or "")
    assert (verdict.plan, verdict.queue) == (None, None)


def test_a_full_disk(context: Desk) -> None:
    context.full = True

    verdict = context.validation.validate(submission())

    assert not verdict.accepted
    assert verdict.refusal == "disk full: 0 MiB free"


def test_no_advice_on_what_was_not_understood(context: Desk) -> None:
    few = replace(submission(), tuning=Tuning(parameters=1, max_trials=1), understood=False)

    assert context.validation.validate(few).warnings[:2] == ("it is late",)


def test_a_search_with_few_trials(context: Desk) -> None:
    verdict = context.validation.validate(replace(submission(), tuning=Tuning(2, 5)))

    assert verdict.accepted
    assert any("5 trials are few for 2 parameters" in warning for warning in verdict.warnings)


def test_a_job_that_can_never_fit(tmp_path: Path) -> None:
    context = Desk(tmp_path / "buckets", mode=Mode.ENFORCE, quotas=Quotas())

    verdict = context.validation.validate(submission(machine=MachineSpec("n1-standard-96")))

    assert not verdict.accepted
    assert verdict.refusal is not None
    assert "can never start here" in verdict.refusal
    assert verdict.parity.accepted is True


def test_a_job_that_its_projects_quota_can_never_hold(tmp_path: Path) -> None:
    quotas = Quotas((Quota("demo", "*", {"vcpus": 2}),))
    context = Desk(tmp_path / "buckets", quotas=quotas)

    verdict = context.validation.validate(submission())

    assert not verdict.accepted
    assert verdict.refusal is not None
    assert "vCPU" in verdict.refusal


def test_a_job_of_which_little_was_understood(context: Desk) -> None:
    empty = Submission(
        NAME, "", JobSpec("", ()), "{}", violations=(Violation("trainingInput", "required"),)
    )

    assert not context.validation.validate(empty).accepted


def test_a_refused_job_with_more_replicas_than_could_be_looked_at(context: Desk) -> None:
    given = submission()
    crowd = replace(
        given.spec.primary,
        cluster_role="worker",
        replica_count=2**62,
        machine=MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 1),
    )
    spec = replace(given.spec, pools=(given.spec.primary, crowd))
    wrong = Violation("trainingInput.workerCount", "allowed: 0 to 10000")

    verdict = context.validation.validate(replace(given, spec=spec, violations=(wrong,)))

    assert verdict.violations == (wrong,)
    assert verdict.plan is None
