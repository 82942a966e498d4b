"""What a tuning job is refused for: by a submit, and by those who only ask."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.job_queue import Queue
from footplate.control.jobs import Jobs
from footplate.control.regions import Binding, Regions
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.control.tuning.trials import Trials
from footplate.control.validation import Validation
from footplate.domain.errors import ServiceError
from footplate.domain.job_states import State
from footplate.domain.jobs import Directory, RestartBounds
from footplate.domain.names import StudyUid, parse_job_name
from footplate.domain.quotas import Quotas
from footplate.domain.sites import EngineMachines
from footplate.domain.studies.records import StudyRecord
from footplate.domain.studies.trials import TrialState
from footplate.domain.submission import Submission
from footplate.domain.tuning.search import Search
from footplate.server.machine import RandomIds
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.submissions import read_submission
from tests.support.backend import FakeBackend
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.jobs import make_job
from tests.support.logs import MemoryLogs
from tests.support.searches import make_search, make_trial, make_tuning_job
from tests.support.sites import make_engine_site, make_regions
from tests.support.store import MemoryStore
from tests.support.usage import MemoryUsage

RATE: JsonObject = {"parameterName": "x", "type": "DOUBLE", "minValue": 0, "maxValue": 1}
OTHER: JsonObject = {**RATE, "parameterName": "y"}
RESUMED: JsonObject = {"resumePreviousJobId": "done", "maxTrials": 2}
OUT = "gs://demo-bucket/out"
LEARN = "footplate-learn-from"

CASES: dict[str, tuple[JsonObject, str, str | None]] = {
    "a new search": ({"params": [RATE]}, "", None),
    "no parameters": ({"maxTrials": 2}, "", "hyperparameters.params"),
    "resumed": (RESUMED, "", None),
    "resumed, with more": ({**RESUMED, "enableTrialEarlyStopping": True}, "", None),
    "resumed, another goal": ({**RESUMED, "goal": "MAXIMIZE"}, "", "hyperparameters.goal"),
    "resumed, other parameters": ({**RESUMED, "params": [RATE]}, "", "hyperparameters.params"),
    "resumed, a grid": ({**RESUMED, "algorithm": "GRID_SEARCH"}, "", "hyperparameters.algorithm"),
    "an unknown job": ({"resumePreviousJobId": "no"}, "", "resumePreviousJobId"),
    "a job of another project": (
        {"resumePreviousJobId": "projects/other/jobs/done"},
        "",
        "resumePreviousJobId",
    ),
    "an unfinished job": ({"resumePreviousJobId": "goes_on"}, "", "resumePreviousJobId"),
    "a plain job": ({"resumePreviousJobId": "plain"}, "", "resumePreviousJobId"),
    "the job itself": ({"resumePreviousJobId": "new"}, "", "resumePreviousJobId"),
    "learning": ({"params": [{**RATE, "parameterName": "units"}], **RESUMED}, "done", "params"),
    "learning from a stranger": ({"params": [RATE]}, "no", LEARN),
    "learning of another metric": ({"params": [RATE]}, "done", LEARN),
    "learning of nothing common": (
        {"params": [OTHER], "goal": "MINIMIZE", "hyperparameterMetricTag": "rmse"},
        "done",
        LEARN,
    ),
    "learning what is known": (
        {
            "params": [{**RATE, "parameterName": "units"}],
            "goal": "MINIMIZE",
            "hyperparameterMetricTag": "rmse",
        },
        "done",
        None,
    ),
}


class Desk:
    def __init__(self, folder: Path, regions: Regions | None = None) -> None:
        clock, regions, ids = FakeClock(), regions or make_regions(), RandomIds()
        self.store = MemoryStore()
        self.buckets = buckets = FolderBuckets(folder, clock)
        buckets.create_bucket("demo-bucket")
        buckets.write("demo-bucket", "trainer-0.1.tar.gz", [b"..."])
        searches = SearchResolver(self.store, PriorStudies(self.store, self.store.studies))
        submission_checks = SubmissionChecks(
            buckets,
            built_in(),
            regions,
            Quotas,
            RestartBounds(),
            searches,
            FakeContainerEngine(),
            reduction=True,
        )
        queue = Queue(self.store, regions, built_in(), 3600.0, clock)
        trials = Trials(self.store, self.store.studies, MeasurementCache(self.store.studies))
        logs = MemoryLogs(clock.now)
        self.jobs = Jobs(
            self.store,
            logs,
            MemoryUsage(),
            submission_checks,
            queue,
            trials,
            clock,
            ids,
            lambda: None,
        )
        self.validation = Validation(
            self.store, submission_checks, built_in(), regions.site, lambda *_: None
        )
        self._tuned("done", State.SUCCEEDED, make_search())
        self._tuned("goes_on", State.RUNNING, make_search())
        self.store.create(replace(make_job("projects/demo/jobs/plain"), state=State.SUCCEEDED), ())

    def _tuned(self, job_id: str, state: State, search: Search) -> None:
        job = replace(make_tuning_job(f"projects/demo/jobs/{job_id}", search), state=state)
        self.store.create(job, ())
        uid, now = StudyUid(job.uid), job.create_time
        self.store.studies.create(StudyRecord(uid, None, "", search.study, "{}", 1, now))

    def finish(self, job_id: str, count: int) -> None:
        """So many of its trials have ended."""
        uid = StudyUid(self.store.get(parse_job_name(f"projects/demo/jobs/{job_id}")).uid)
        study = self.store.studies.load(uid).study
        trials = [make_trial(n, TrialState.SUCCEEDED, value=0.5) for n in range(1, count + 1)]
        self.store.studies.write(replace(study, made=count, ended=count, version=2), trials)

    def body(self, search: JsonObject) -> dict[str, Any]:
        training: dict[str, Any] = {
            "region": "us-central1",
            "packageUris": ["gs://demo-bucket/trainer-0.1.tar.gz"],
            "pythonModule": "trainer.task",
            "hyperparameters": search,
        }
        return {"jobId": "new", "trainingInput": training}


@pytest.fixture
def context(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "buckets")


SENTENCES = {
    "an unknown job": "'no' given, which does not exist; allowed: a finished tuning job of",
    "an unfinished job": "'goes_on' given, which is RUNNING; wait for the job's end, or cancel it",
    "a plain job": "'plain' given, which isn't a tuning job; allowed: a finished tuning job",
    "a job of another project": "jobs of other projects can't be resumed",
}


@pytest.mark.parametrize("case", SENTENCES)
def test_each_job_that_can_not_be_resumed_has_a_sentence_of_its_own(
    context: Desk, case: str
) -> None:
    submission = read_submission(context.body(CASES[case][0]), "demo", built_in())
    found = [v.description for v in context.validation.validate(submission).violations]
    assert any(SENTENCES[case] in description for description in found)


def test_the_warning_about_few_trials_counts_those_of_the_resumed_job(context: Desk) -> None:
    context.finish("done", 30)
    few = read_submission(context.body(RESUMED), "demo", built_in())
    enough = read_submission(context.body({**RESUMED, "maxTrials": 10}), "demo", built_in())

    said = "2 new and 30 earlier trials are few for 4 parameters: at least 10 for each are "
    assert [w for w in context.validation.validate(few).warnings if w.startswith(said)]
    assert not [w for w in context.validation.validate(enough).warnings if " few for " in w]


def in_directory(context: Desk, search: JsonObject, directory: str = OUT) -> Submission:
    body = context.body(search)
    body["trainingInput"]["jobDir"] = directory
    return read_submission(body, "demo", built_in())


def write_to(context: Desk, job_id: str, directory: str) -> None:
    """The job has this output directory."""
    job = context.store.get(parse_job_name(f"projects/demo/jobs/{job_id}"))
    spec = replace(job.spec, directories=(Directory(None, directory),))
    context.store.update(replace(job, spec=spec, version=job.version + 1), ())


@pytest.mark.parametrize(
    ("left", "taken"),
    [
        ("out/3/model.txt", None),
        ("out/4/checkpoint", 4),
        ("out/5/eval/events", 5),
        ("out/6/checkpoint", None),
        ("out/04/checkpoint", None),
        ("out/4", None),
    ],
)
def test_a_directory_that_a_trial_of_a_resumed_search_would_find_full_is_refused(
    context: Desk, left: str, taken: int | None
) -> None:
    context.finish("done", 3)
    context.buckets.write("demo-bucket", left, [b"..."])

    verdict = context.validation.validate(in_directory(context, RESUMED))

    found = [(v.field, v.description) for v in verdict.violations]
    assert found == (
        []
        if taken is None
        else [
            (
                "trainingInput.jobDir",
                (
                    f"gs://demo-bucket/out/{taken}/ isn't empty: trial {taken} of this job would "
                    "read the files in it as its own; give another directory, or move the old "
                    "directory away"
                ),
            )
        ]
    )


def test_the_plan_of_a_resumed_search_has_the_number_of_its_first_trial(context: Desk) -> None:
    context.finish("done", 3)

    plan = context.validation.validate(in_directory(context, RESUMED)).plan

    assert plan is not None
    assert "Each trial runs like trial 4, shown here, with its own values and directories." in (
        plan.steps
    )
    (pool,) = plan.pools
    assert "gs://demo-bucket/out/4" in str(pool)


@pytest.mark.parametrize("directory", [OUT, f"{OUT}/"])
@pytest.mark.parametrize("owner", ["plain", "done"])
def test_a_directory_with_files_of_another_job_is_warned_of(
    context: Desk, directory: str, owner: str
) -> None:
    write_to(context, owner, directory)
    context.buckets.write("demo-bucket", "out/1/checkpoint", [b"..."])
    submission = in_directory(context, {"params": [RATE]})
    said = (
        f"gs://demo-bucket/out isn't empty: job {owner} wrote there; the program may go on "
        "from that job's checkpoints, or report its results as new ones. If you don't want "
        "this, give another trainingInput.jobDir"
    )

    assert said in context.validation.validate(submission).warnings
    job = context.jobs.submit(submission)
    assert said in [each.event.message for each in context.store.events(job.uid)]


@pytest.mark.parametrize(
    ("owner", "left", "search"),
    [
        ("plain", "", {"params": [RATE]}),
        ("plain", "out/packages/1f/trainer.tar.gz", {"params": [RATE]}),
        ("plain", "out2/checkpoint", {"params": [RATE]}),
        ("", "out/checkpoint", {"params": [RATE]}),
        ("done", "out/1/checkpoint", RESUMED),
    ],
    ids=["empty", "packages alone", "another", "without an owner", "of the resumed search"],
)
def test_other_directories_are_not_warned_of(
    context: Desk, owner: str, left: str, search: JsonObject
) -> None:
    context.finish("done", 3)
    if owner:
        write_to(context, owner, OUT)
    if left:
        context.buckets.write("demo-bucket", left, [b"..."])

    warnings = context.validation.validate(in_directory(context, search)).warnings

    assert not [each for each in warnings if "isn't empty" in each]


@pytest.mark.parametrize("case", CASES)
def test_who_asks_and_who_submits_hear_the_same(context: Desk, case: str) -> None:
    search, learned, field = CASES[case]
    body = context.body(search)
    if learned:
        body["labels"] = {LEARN: learned}
    submission = read_submission(body, "demo", built_in())

    verdict = context.validation.validate(submission)
    if field is None:
        assert verdict.accepted
        assert context.jobs.submit(submission).spec.search is not None
        return
    assert not verdict.accepted
    with pytest.raises(ServiceError) as refused:
        context.jobs.submit(submission)
    assert refused.value.violations == verdict.violations
    assert any(field in violation.field for violation in verdict.violations)


def test_a_search_over_regions_is_refused_for_what_one_of_them_has_not(tmp_path: Path) -> None:
    few = EngineMachines("Slurm", frozenset({"n1-highmem-8"}))
    bound = {"europe-west4": Binding(FakeBackend(), make_engine_site(few), "slurm")}
    context = Desk(tmp_path, Regions(make_regions().default, bound))
    body = context.body({"params": [RATE]})

    assert context.validation.validate(read_submission(body, "demo", built_in())).accepted

    body["labels"] = {"footplate-trial-regions": "us-central1_europe-west4"}
    submission = read_submission(body, "demo", built_in())
    (violation,) = context.validation.validate(submission).violations
    assert violation.field == "trainingInput.masterType"
    assert "europe-west4 on Slurm doesn't offer" in violation.description


def test_a_search_over_regions_is_refused_where_one_has_no_such_accelerator(context: Desk) -> None:
    body = context.body({"params": [RATE]})
    body["trainingInput"] |= {
        "scaleTier": "CUSTOM",
        "masterType": "n1-standard-8",
        "masterConfig": {"acceleratorConfig": {"count": "1", "type": "NVIDIA_TESLA_K80"}},
    }
    body["labels"] = {"footplate-trial-regions": "us-central1_southamerica-east1"}

    verdict = context.validation.validate(read_submission(body, "demo", built_in()))

    found = {violation.field: violation.description for violation in verdict.violations}
    assert found["labels.footplate-trial-regions"] == (
        "no zone of region southamerica-east1 has all accelerators of this job; leave the zone out"
    )
