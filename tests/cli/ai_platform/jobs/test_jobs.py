"""describe, list and cancel of training jobs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.support.fake_service import TIME, FakeService, failure

NAME = "projects/demo/jobs/census_1"
CAUSE = "master-replica-0 exited with code 1: ValueError: no rows"


@pytest.fixture(autouse=True)
def jobs(fake: FakeService) -> None:
    for number, state in enumerate(("RUNNING", "FAILED", "QUEUED"), 1):
        fake.jobs[f"projects/demo/jobs/census_{number}"] = {
            "jobId": f"census_{number}",
            "state": state,
            "createTime": TIME,
            "trainingInput": {"region": "us-central1"},
        }
    fake.jobs["projects/demo/jobs/census_2"]["errorMessage"] = CAUSE


def test_describe_shows_the_resource_and_what_happens(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.events[NAME] = [
        {"number": 1, "kind": "QUEUED", "message": "waiting for memory"},
        {"number": 2, "kind": "PREPARING", "message": "38 of 52 packages"},
    ]
    result = invoke("ai-platform", "jobs", "describe", "census_1")
    assert result.stdout == (
        f"createTime: '{TIME}'\n"
        "jobId: census_1\n"
        "state: RUNNING\n"
        "trainingInput:\n"
        "  region: us-central1\n"
    )
    assert result.stderr == "PREPARING: 38 of 52 packages\n"


def test_describe_repeats_warnings_and_what_a_search_went_on_from(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.events[NAME] = [
        {"number": 1, "kind": "QUEUED", "message": ""},
        {"number": 2, "kind": "WARNING", "message": "3 trials are few for 1 parameter"},
        {"number": 3, "kind": "EARLIER_TRIALS", "message": "goes on from census_0: 9 trials"},
        {"number": 4, "kind": "LOST_FILES", "message": "1 file", "replica": "master-replica-0"},
        {"number": 5, "kind": "RUNNING", "message": ""},
    ]
    assert invoke("ai-platform", "jobs", "describe", "census_1").stderr == (
        "Warning: 3 trials are few for 1 parameter\nIt goes on from census_0: 9 trials.\n"
        "Warning: master-replica-0: 1 file.\nRUNNING\n"
    )


def test_describe_shows_an_event_without_words(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.events[NAME] = [{"number": 1, "kind": "RUNNING", "message": ""}]
    assert invoke("ai-platform", "jobs", "describe", "census_1").stderr == "RUNNING\n"


def test_describe_says_why_a_job_failed(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "describe", "census_2", "--format=json")
    assert json.loads(result.stdout)["errorMessage"] == CAUSE
    assert result.stderr == f"Job census_2 failed: {CAUSE}\n"
    assert result.exit_code == 0


def test_describe_says_what_went_wrong_in_a_job_that_succeeded(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.jobs[NAME] |= {"state": "SUCCEEDED", "endExplanation": "its evaluator failed"}
    assert invoke("ai-platform", "jobs", "describe", "census_1").stderr == (
        "Job census_1 succeeded. But its evaluator failed\n"
    )


LOST = "replica worker-replica-0 was lost"
RESTARTED: list[dict[str, object]] = [
    {"number": 1, "time": TIME, "kind": "RUNNING"},
    {
        "number": 2,
        "time": TIME,
        "kind": "REPLICA_FAILED",
        "replica": "worker-replica-0",
        "message": LOST,
    },
    {
        "number": 3,
        "time": TIME,
        "kind": "RESTART",
        "replica": "worker-replica-0",
        "message": f"{LOST}; only this replica starts again, restart 1 of 5",
    },
    {"number": 4, "time": TIME, "kind": "RETRY", "message": "starting again"},
    {
        "number": 5,
        "time": TIME,
        "kind": "RESTART",
        "replica": "worker-replica-0",
        "message": f"{LOST}; only this replica starts again, restart 2 of 5",
    },
    {"number": 6, "time": TIME, "kind": "STACKS", "message": "one\ntwo"},
]


@pytest.mark.parametrize("state", ["RUNNING", "SUCCEEDED", "FAILED"])
def test_describe_tells_of_restarts(
    invoke: Callable[..., Result], fake: FakeService, state: str
) -> None:
    fake.jobs[NAME]["state"] = state
    fake.events[NAME] = RESTARTED[:5]
    ends = {"FAILED": "Job census_1 failed.\n", "SUCCEEDED": ""}
    latest = f"worker-replica-0  RESTART: {LOST}; only this replica starts again, restart 2 of 5\n"
    assert invoke("ai-platform", "jobs", "describe", "census_1").stderr == (
        f"Restarts: worker-replica-0 2 times, all replicas once. Last restart: {LOST}; only this "
        "replica starts again, restart 2 of 5\n  footplate ai-platform jobs events census_1\n"
        + ends.get(state, latest)
    )


def test_events_of_a_job(invoke: Callable[..., Result], fake: FakeService) -> None:
    """The reason of a restart is told once where the failure stands before it."""
    fake.events[NAME] = RESTARTED
    at = "2026-11-21T08:00:00Z"
    assert invoke("ai-platform", "jobs", "events", "census_1").stdout == (
        f"{at}  RUNNING\n"
        f"{at}  worker-replica-0  REPLICA_FAILED: {LOST}\n"
        f"{at}  worker-replica-0  RESTART: only this replica starts again, restart 1 of 5\n"
        f"{at}  RETRY: starting again\n"
        f"{at}  worker-replica-0  RESTART: {LOST}; only this replica starts again, restart 2 of 5\n"
        f"{at}  STACKS: one\n"
        "    two\n"
    )


def test_events_for_scripts(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.events[NAME] = RESTARTED
    words = ("ai-platform", "jobs", "events", "census_1")
    values = invoke(*words, "--format=value(number,kind)").stdout.splitlines()
    assert values[0] == "1\tRUNNING"
    assert json.loads(invoke(*words, "--format=json").stdout)[5]["message"] == "one\ntwo"


def test_describe_takes_a_resource_name(invoke: Callable[..., Result]) -> None:
    words = ("describe", NAME, "--project=other", "--format=value(state)")
    assert invoke("ai-platform", "jobs", *words).stdout == "RUNNING\n"


def test_describe_of_a_job_that_is_not_there(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "describe", "nobody")
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "",
        (
            "Error: projects/demo/jobs/nobody not found\n"
            "  list them: footplate ai-platform jobs list\n"
        ),
    )


def test_a_job_of_a_like_name_is_offered(invoke: Callable[..., Result]) -> None:
    words = ("describe", "projects/demo/jobs/census_12", "--project=other")
    assert invoke("ai-platform", "jobs", *words).stderr == (
        "Error: projects/demo/jobs/census_12 not found\n"
        "  did you mean census_1 or census_2 or census_3?\n"
        "  list them: footplate ai-platform jobs list --project=demo\n"
    )


def test_where_there_are_no_jobs_another_project_is(invoke: Callable[..., Result]) -> None:
    assert invoke("ai-platform", "jobs", "cancel", "x", "--project=empty").stderr == (
        "Error: projects/empty/jobs/x not found\n  projects/empty/jobs has no jobs; choose "
        "another project with --project\n  list them: footplate ai-platform jobs list "
        "--project=empty\n"
    )


SUMMARY = """\
┌────────────────────────────────────────────────────────────────────────┐
│                              Job Overview                              │
├──────────┬─────────┬─────────────────────┬─────────────────────┬───────┤
│    JOB   │  STATUS │       CREATED       │       STARTED       │ ENDED │
├──────────┼─────────┼─────────────────────┼─────────────────────┼───────┤
│ census_1 │ RUNNING │ 2026-11-21T08:00:00 │ 2026-11-21T08:00:01 │       │
└──────────┴─────────┴─────────────────────┴─────────────────────┴───────┘
┌─────────────────────────────────────────────┐
│            Training Input Summary           │
├─────────────┬────────┬────────────┬─────────┤
│    REGION   │ MODULE │ SCALE_TIER │ RUNTIME │
├─────────────┼────────┼────────────┼─────────┤
│ us-central1 │        │            │         │
└─────────────┴────────┴────────────┴─────────┘
"""


def test_describe_summarized(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.jobs[NAME]["startTime"] = "2026-11-21T08:00:01.5Z"
    result = invoke("ai-platform", "jobs", "describe", "census_1", "--summarize")
    assert result.stdout == SUMMARY


def test_labels_are_changed(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.jobs[NAME] |= {"labels": {"team": "vision", "x": "y"}, "etag": "b25l"}
    update = ("ai-platform", "jobs", "update", "census_1", "--format=json")
    result = invoke(*update, "--update-labels=rank=1,team=b", "--remove-labels=x,nope")
    assert json.loads(result.stdout)["labels"] == {"rank": "1", "team": "b"}
    assert result.stderr == "Job census_1 is updated.\n"
    sent = fake.last("PATCH")
    assert sent.query == {"updateMask": "labels,etag"}
    assert sent.json()["etag"] == "b25l"

    invoke(*update, "--clear-labels", "--update-labels=new=1")
    assert fake.jobs[NAME]["labels"] == {"new": "1"}


def test_labels_that_another_changes_meanwhile_are_not_lost(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.jobs[NAME] |= {"labels": {}, "etag": "b25l"}
    fake.meddlers[NAME] = [{"labels": {"theirs": "1"}, "etag": "dHdv"}]
    invoke("ai-platform", "jobs", "update", "census_1", "--update-labels=mine=1")
    assert fake.jobs[NAME]["labels"] == {"theirs": "1", "mine": "1"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "give --update-labels, --remove-labels or --clear-labels"),
        (("--clear-labels", "--remove-labels=a"),
         "--clear-labels and --remove-labels exclude each other"),
    ],
)  # fmt: skip
def test_update_wants_to_know_what(
    words: tuple[str, ...], problem: str, invoke: Callable[..., Result]
) -> None:
    result = invoke("ai-platform", "jobs", "update", "census_1", *words)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"Error: {problem}"


def test_list_is_a_table(invoke: Callable[..., Result]) -> None:
    assert invoke("ai-platform", "jobs", "list").stdout == (
        "JOB_ID    STATUS   CREATED                      NOTE\n"
        f"census_1  RUNNING  {TIME}\n"
        f"census_2  FAILED   {TIME}  {CAUSE}\n"
        f"census_3  QUEUED   {TIME}\n"
    )


def test_list_says_which_jobs_search(invoke: Callable[..., Result], fake: FakeService) -> None:
    job = fake.jobs["projects/demo/jobs/census_2"]
    job["trainingInput"] = {"hyperparameters": {"maxTrials": 3}}
    job["trainingOutput"] = {"hyperparameterMetricTag": "rmse"}
    assert invoke("ai-platform", "jobs", "list").stdout.splitlines()[:3] == [
        f"{'JOB_ID':<10}STATUS   {'CREATED':<{len(TIME)}}  TUNES  NOTE",
        f"census_1  RUNNING  {TIME}",
        f"census_2  FAILED   {TIME}  rmse   {CAUSE}",
    ]


def test_list_takes_gclouds_options(invoke: Callable[..., Result], fake: FakeService) -> None:
    condition = "state=QUEUED OR state=FAILED"
    words = (f"--filter={condition}", "--limit=2", "--sort-by=~jobId", "--uri", "--page-size=7")
    result = invoke("ai-platform", "jobs", "list", *words)
    assert result.stdout == "projects/demo/jobs/census_3\nprojects/demo/jobs/census_2\n"
    assert fake.requests[0].query == {"filter": condition, "pageSize": "7"}, "the API's own filter"


def test_the_service_says_what_is_wrong_with_a_filter(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    refused = failure(400, "INVALID_ARGUMENT", "filter: unknown state; allowed: QUEUED")
    fake.refusals["GET", "/v1/projects/demo/jobs"] = refused
    result = invoke("ai-platform", "jobs", "list", "--filter=state=RUNING")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: filter: unknown state; allowed: QUEUED\n"


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        ("ai-platform jobs list --flatten=labels[]", "flatten the output of --format=json with jq"),
        (
            "ai-platform jobs describe j --flatten=labels[]",
            "flatten the output of --format=json with jq",
        ),
        ("--flatten=labels[] ai-platform jobs list", "flatten the output of --format=json with jq"),
        ("catalogue regions --filter=name:us", "filter the output of --format=json with jq"),
        ("storage ls gs://one --filter=size>1", "filter the output of --format=json with jq"),
        ("ai-platform jobs list --format=json(labels)", "for other formats, use jq on json"),
        (
            "ai-platform jobs list --format=value(name.basename())",
            "for other formats, use jq on json",
        ),
    ],
)
def test_what_only_gcloud_has_is_refused_with_the_way_out(
    words: str, way_out: str, invoke: Callable[..., Result], fake: FakeService
) -> None:
    result = invoke(*words.split())
    assert result.exit_code == 2
    assert way_out in result.stderr.splitlines()[-1]
    assert not fake.requests


def test_a_field_to_sort_by_that_nothing_has_is_told_of(invoke: Callable[..., Result]) -> None:
    words = ("ai-platform", "jobs", "list", "--sort-by=~jobId,input.sate", "--limit=1", "--uri")
    result = invoke(*words)
    assert (result.exit_code, result.stdout) == (0, "projects/demo/jobs/census_3\n")
    assert result.stderr == "Note: --sort-by: no entry of this list has the field input.sate.\n"


def test_list_in_other_formats(invoke: Callable[..., Result]) -> None:
    words = ("ai-platform", "jobs", "list", "--limit=1")
    assert json.loads(invoke(*words, "--format=json").stdout)[0]["jobId"] == "census_1"
    assert invoke(*words, "--format=csv(jobId,trainingInput.region)").stdout == (
        "job_id,region\ncensus_1,us-central1\n"
    )


def test_a_format_that_is_none(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "list", "--format=xml")
    assert result.exit_code == 2
    assert result.stderr == (
        "Usage: footplate ai-platform jobs list [OPTIONS]\nTry 'footplate ai-platform jobs list "
        "--help' for help.\n\nError: Invalid value for '--format': 'xml' given; allowed: table, "
        "json, yaml, csv, csv(FIELD,...) and value(FIELD,...); for other formats, use jq on "
        "json\n"
    )


def test_cancel(invoke: Callable[..., Result], fake: FakeService) -> None:
    result = invoke("ai-platform", "jobs", "cancel", "census_1", "--project=demo")
    assert result.stderr == (
        "Job census_1 is cancelled.\n"
        "  footplate ai-platform jobs describe census_1 --project=demo\n"
    )
    assert fake.jobs[NAME]["state"] == "CANCELLED"


def test_a_custom_job_is_shown_its_own_commands(invoke: Callable[..., Result]) -> None:
    name = "projects/p/locations/us-central1/customJobs/1"
    result = invoke("ai-platform", "jobs", "describe", name)
    assert result.stderr == f"Error: '{name}' is a custom job; see `footplate ai custom-jobs`\n"


WAITS = "Waits for 4 NVIDIA_TESLA_T4: job census_1 holds 4 of 4; it is the first in line"


@pytest.fixture
def waiting(fake: FakeService) -> None:
    fake.jobs["projects/demo/jobs/census_3"].update(pendingExplanation=WAITS, jobPosition="1")


@pytest.mark.usefixtures("waiting")
def test_list_says_why_jobs_wait(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "list")

    assert result.stdout == (
        "JOB_ID    STATUS   CREATED                      NOTE\n"
        f"census_1  RUNNING  {TIME}\n"
        f"census_2  FAILED   {TIME}  {CAUSE}\n"
        f"census_3  QUEUED   {TIME}  {WAITS}\n"
    )
    listed = json.loads(invoke("ai-platform", "jobs", "list", "--format=json").stdout)
    assert [job.get("pendingExplanation") for job in listed] == [None, None, WAITS]


@pytest.mark.usefixtures("waiting")
def test_describe_says_why_a_job_waits_and_not_what_happened_last(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.events["projects/demo/jobs/census_3"] = [{"number": 1, "kind": "WAITING", "message": "x"}]

    result = invoke("ai-platform", "jobs", "describe", "census_3")

    assert f"pendingExplanation: '{WAITS}'" in result.stdout
    assert result.stderr == f"{WAITS}\n"


def test_a_list_says_how_often_jobs_started_again(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.restarts[NAME] = 3
    rows = [row.split() for row in invoke("ai-platform", "jobs", "list").stdout.splitlines()]
    at = rows[0].index("RESTARTS")
    again = [row for row in rows[1:] if row[0] == NAME.rpartition("/")[2]]
    assert [row[at] for row in again] == ["3"]
    for words in (["--format=json"], ["--format=csv"], ["--uri"]):
        assert "restarts" not in invoke("ai-platform", "jobs", "list", *words).stdout.lower()


def test_an_older_service_does_not_say_so(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.restarts[NAME] = 3
    fake.refusals["POST", "/footplate/v1/restarts"] = failure(404, "NOT_FOUND", "no such route")
    listed = invoke("ai-platform", "jobs", "list")
    assert listed.exit_code == 0
    assert "RESTARTS" not in listed.stdout
