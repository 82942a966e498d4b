"""``footplate jobs``: list, describe, cancel, delete and prune, against the APIs' own routes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result

from footplate.api.app import create_app
from footplate.api.footplate_v1.catalogue import catalogue_routes
from footplate.api.footplate_v1.jobs import jobs_routes
from footplate.api.security import Access
from footplate.api.training_v1 import training_routes
from footplate.api.vertex_v1 import vertex_routes
from footplate.cli.main import main
from footplate.control.costs import Costs
from footplate.control.job_lists import JobLists
from footplate.domain.errors import Code, NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.machine_hours import NO_PRICES
from footplate.domain.names import parse_job_name
from footplate.domain.pipelines import Pipeline
from tests.support.catalogue import built_in
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_spec
from tests.support.jobs_service import MemoryJobs

Invoke = Callable[..., Result]

NOW = datetime.now(UTC)
CENSUS = "projects/ads/jobs/census_1"
TWIN = "projects/vision/jobs/census_1"
CUSTOM = "projects/ads/locations/europe-west4/customJobs/7"
TUNING = "projects/vision/locations/us-central1/hyperparameterTuningJobs/8"
PIPELINE = "projects/ads/locations/us-central1/trainingPipelines/9"
BEHIND = "projects/ads/locations/us-central1/customJobs/9"
AGES = {CENSUS: 40, TWIN: 20, CUSTOM: 10, TUNING: None, PIPELINE: 31, BEHIND: 31}
"""Days since the end; None: it waits."""


@pytest.fixture
def jobs() -> MemoryJobs:
    """All ended but one; the custom job failed."""
    jobs = MemoryJobs()
    for at, (name, age) in enumerate(AGES.items()):
        spec = make_spec()
        if name == PIPELINE:
            spec = replace(spec, pipeline=Pipeline("a-custom-job", "{}", None))
        job = make_job(
            name,
            spec=replace(spec, region="europe-west4" if name == CUSTOM else "us-central1"),
            created=NOW - timedelta(days=50 - at),
            display_name=f"model {at}",
            state=State.QUEUED,
        )
        if age is not None:
            state = State.FAILED if name == CUSTOM else State.SUCCEEDED
            error = (Code.INTERNAL, "No such column: age") if name == CUSTOM else ()
            ended = NOW - timedelta(days=age)
            job = replace(job, state=state, end_time=ended, ending=Ending(state, *error))
        jobs.store.create(job, ())
    return jobs


@pytest.fixture
def invoke(jobs: MemoryJobs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Invoke]:
    lists, costs = JobLists(jobs.store), Costs(jobs.store, built_in(), NO_PRICES, jobs.clock)
    routes = [
        *jobs_routes(lists, jobs, costs, int, built_in().regions),
        *training_routes(jobs, built_in(), jobs.kept_trials),
        *catalogue_routes(built_in()),
        *vertex_routes(jobs, jobs.clock, built_in(), jobs.kept_trials),
    ]
    # Where a shell belongs to a project, the lists are still those of all.
    monkeypatch.setenv("CLOUDSDK_CORE_PROJECT", "another")
    monkeypatch.delenv("FOOTPLATE_TOKEN", raising=False)
    with serve(create_app(routes, Access())) as url:
        monkeypatch.setenv("FOOTPLATE_URL", url)

        def run(*words: str) -> Result:
            return CliRunner().invoke(main, ["jobs", *words], prog_name="footplate")

        yield run


def uris(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def left(jobs: MemoryJobs) -> set[str]:
    found = set()
    for name in AGES:
        try:
            jobs.get(parse_job_name(name))
        except NotFound:
            continue
        found.add(name)
    return found


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), [BEHIND, PIPELINE, TUNING, CUSTOM, TWIN, CENSUS]),
        (("--state=failed",), [CUSTOM]),
        (("--state=JOB_STATE_FAILED", "--state=queued"), [TUNING, CUSTOM]),
        (("--project=vision",), [TUNING, TWIN]),
        (("--region=europe-west4",), [CUSTOM]),
        (("--kind=pipeline",), [PIPELINE]),
        (("--filter=state=FAILED OR jobId=8",), [TUNING, CUSTOM]),
        (("--filter=jobId=8 OR jobId=7", "--state=FAILED"), [CUSTOM]),
        (("--filter=jobId:census*", "--sort-by=createTime", "--limit=1"), [CENSUS]),
    ],
)
def test_list_goes_over_all_places(
    invoke: Invoke, words: tuple[str, ...], expected: list[str]
) -> None:
    assert uris(invoke("list", "--uri", *words)) == expected


def test_list_shows_where_jobs_are_and_why_they_failed(invoke: Invoke) -> None:
    result = invoke("list", "--state=FAILED")
    head, row = result.stdout.splitlines()
    assert head.split() == [
        *("JOB", "KIND", "DISPLAY_NAME", "STATE", "PROJECT", "REGION", "CREATED", "NOTE")
    ]
    assert row.startswith("7    custom  model 2       FAILED  ads      europe-west4")
    assert "No such column: age" in row
    (found,) = json.loads(invoke("list", "--state=FAILED", "--format=json").stdout)
    assert (found["jobId"], found["kind"], found["state"]) == ("7", "custom", "FAILED")
    none = invoke("list", "--project=nobody")
    assert "Listed 0 items; choose other jobs with --project, --region and --kind." in none.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--region=us-centrall1"), "unknown region 'us-centrall1'; did you mean us-c"),
        (("list", "--state=done"), "'done' given; allowed: QUEUED, PREPARING, RUNNING, "),
        (("list", "--filter=state=DONE"), "unknown state; allowed: QUEUED"),
        (("list", "--filter=region=us-centrall1"), "unknown region; did you mean us-c"),
        (
            ("list", "--filter=kind=custom", "--state=FAILED"),
            "unknown field; allowed: author, createTime, displayName, endTime, jobId, region, ",
        ),
        (("prune", "--filter=region=atlantis"), "unknown region; there are 38 regions"),
        (("prune", "--state=running"), "'running' given; allowed: SUCCEEDED, FAILED, CANCELLED"),
        (("prune", "--older-than=30"), "'30' given; allowed: a number with a unit: 45s, 90m"),
        (("prune",), "give --older-than, --state or --filter"),
        (("logs", "a", "b", "--follow"), "--follow takes only one JOB"),
        (("describe",), "Missing argument 'JOB...'"),
    ],
)
def test_what_is_wrong_is_named(invoke: Invoke, words: tuple[str, ...], said: str) -> None:
    result = invoke(*words)
    assert result.exit_code in (1, 2)
    assert said in result.stderr


def test_describe_finds_ids_wherever_they_are(invoke: Invoke) -> None:
    shown = invoke("describe", "8", "7", "--format=value(name,state)")
    assert shown.stdout.splitlines() == [
        f"{TUNING}\tJOB_STATE_QUEUED",
        f"{CUSTOM}\tJOB_STATE_FAILED",
    ]
    assert shown.exit_code == 0
    pipeline = invoke("describe", "9", "--format=value(name)")
    assert pipeline.stdout.strip() == PIPELINE, "the job behind it has the same id"


def test_an_id_of_several_jobs_wants_more_words(invoke: Invoke) -> None:
    several = invoke("describe", "census_1")
    assert several.exit_code == 1
    assert (
        f"2 jobs have the id 'census_1': {TWIN}, {CENSUS}; give the full name of a job"
        in several.stderr
    )
    one = invoke("describe", "census_1", "--project=ads", "--format=value(state)")
    assert one.stdout == "SUCCEEDED\n"
    assert invoke("describe", TWIN, "--format=value(state)").stdout == "SUCCEEDED\n"


def test_a_job_that_is_missing_is_told_with_the_way_out(invoke: Invoke) -> None:
    missing = invoke("describe", "77", "7", "--format=value(name)")
    assert missing.exit_code == 1
    assert missing.stdout == f"{CUSTOM}\n", "the others are shown"
    assert "there is no job '77' in any project or region" in missing.stderr
    elsewhere = invoke("cancel", "7", "--project=vision")
    assert "there is no job '7' with --project=vision" in elsewhere.stderr
    shown = invoke("delete", "model 2")
    assert f"is the display name of {CUSTOM}" in shown.stderr


def test_several_jobs_are_cancelled_and_deleted_at_once(invoke: Invoke, jobs: MemoryJobs) -> None:
    deleted = invoke("delete", "8", "7", "9")
    assert deleted.exit_code == 1, "one has not ended"
    assert f"{TUNING} is QUEUED" in deleted.stderr
    assert "Job 7 is deleted.\nJob 9 is deleted.\n" in deleted.stderr
    assert left(jobs) == {CENSUS, TWIN, TUNING, BEHIND}, "the fake takes no job behind along"
    cancelled = invoke("cancel", "8", CENSUS)
    assert cancelled.exit_code == 0
    assert "Job 8 is cancelled." in cancelled.stderr
    assert "Job census_1 had ended already: SUCCEEDED." in cancelled.stderr


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (("--older-than=30d",), {CENSUS, PIPELINE, BEHIND}),
        (("--older-than=5w",), {CENSUS}),
        (("--older-than=0s", "--state=FAILED"), {CUSTOM}),
        (("--older-than=240h", "--project=vision"), {TWIN}),
        (("--state=succeeded", "--kind=training"), {CENSUS, TWIN}),
        (("--filter=displayName='model 1' OR state=FAILED",), {TWIN, CUSTOM}),
        (("--older-than=999999w",), set()),
    ],
)
def test_prune_deletes_what_ended_long_ago(
    invoke: Invoke, jobs: MemoryJobs, words: tuple[str, ...], gone: set[str]
) -> None:
    dry = invoke("prune", "--dry-run", "--format=value(name)", *words)
    assert set(uris(dry)) == gone
    assert left(jobs) == {*AGES}, "nothing is deleted"
    result = invoke("prune", *words)
    assert result.exit_code == 0, result.output
    assert left(jobs) == {*AGES} - gone
    count = "1 job" if len(gone) == 1 else f"{len(gone)} jobs"
    assert (f"Deleted {count}." if gone else "nothing is deleted") in result.stderr


@pytest.mark.parametrize(
    "words", [("jobs", "-h"), ("jobs", "prune", "-h"), ("ai", "custom-jobs", "list", "-h"), ("-h",)]
)
def test_h_is_help(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, words, prog_name="footplate")
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: footplate")


@pytest.mark.parametrize(
    "words",
    [
        ("ai", "custom-jobs", "describe", "7"),
        ("ai", "hp-tuning-jobs", "stream-logs", "7", "--project=ads"),
    ],
)
def test_other_groups_say_where_a_job_of_this_id_is(invoke: Invoke, words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, words, prog_name="footplate")
    assert result.exit_code == 1
    assert f"these other jobs have the id: {CUSTOM}" in result.stderr
    assert f"show one: footplate jobs describe {CUSTOM}" in result.stderr
