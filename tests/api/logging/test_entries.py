"""``entries:list``, asked as Cloud Logging's clients ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from footplate.api.logging_v2 import entries
from footplate.domain.names import JobName, TrainingJobName, TuningJobName
from footplate.domain.submission import Location
from tests.api.logging.conftest import TRAINING, World

if TYPE_CHECKING:
    import httpx

FILTER = 'resource.type="ml_job" AND resource.labels.job_id="{}"'
STREAM_LOGS = {
    "User-Agent": "google-cloud-sdk gcloud/528.0.0 command/gcloud.ai-platform.jobs.stream-logs"
    " invocation-id/0123abcd environment/None"
}


def ask(http: httpx.Client, job_id: str, more: str = "", **fields: Any) -> httpx.Response:
    body = {
        "resourceNames": ["projects/demo"],
        "filter": FILTER.format(job_id) + more,
        **fields,
    }
    return http.post("/v2/entries:list", json=body)


def texts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [entry["textPayload"] for entry in answer.json().get("entries", [])]


def read_all(http: httpx.Client, job_id: str, more: str = "", **fields: Any) -> list[str]:
    found: list[str] = []
    token = ""
    while True:
        answer = ask(http, job_id, more, pageToken=token, **fields)
        found += texts(answer)
        token = answer.json().get("nextPageToken", "")
        if not token:
            return found


def number_lines(count: int) -> list[str]:
    return [f"line {number}" for number in range(count)]


def test_entries_come_in_order_in_pages(world: World, http: httpx.Client) -> None:
    job = world.submit()
    lines = number_lines(125)
    world.print(job, *lines)
    assert texts(ask(http, "job_1")) == lines[:50]
    assert read_all(http, "job_1") == lines
    assert read_all(http, "job_1", orderBy="timestamp desc") == lines[::-1]
    assert read_all(http, "job_1", orderBy="timestamp asc", pageSize=7) == lines
    assert read_all(http, "job_1", orderBy="TIMESTAMP  desc", pageSize=25) == lines[::-1]


def test_a_page_has_at_most_a_thousand(world: World, http: httpx.Client) -> None:
    job = world.submit()
    lines = number_lines(1500)
    world.print(job, *lines)
    assert texts(ask(http, "job_1", pageSize=10**6)) == lines[:1000]
    assert read_all(http, "job_1", pageSize=1000) == lines
    assert read_all(http, "job_1", pageSize=1000, orderBy="timestamp desc") == lines[::-1]


def test_a_custom_job_is_found_by_its_number(world: World, http: httpx.Client) -> None:
    job = world.submit(Location("demo", "us-central1"))
    world.print(job, "hello")
    (entry,) = ask(http, job.name.job_id).json()["entries"]
    assert entry["resource"]["labels"]["task_name"] == "workerpool0-0"
    assert entry["resource"]["labels"]["job_id"] == job.name.job_id


@pytest.mark.parametrize(
    "name", [TRAINING, TuningJobName("demo", "us-central1", "123")], ids=["ml", "vertex"]
)
def test_a_tuning_job_and_the_runs_of_its_trials(
    world: World, http: httpx.Client, name: JobName
) -> None:
    job, runs = world.tune(name)
    for number in range(5):
        for run in runs:
            world.print(run, f"{run.spec.trial}: {number}")
    mixed = [f"{trial}: {number}" for number in range(5) for trial in (1, 2)]
    second = [f"2: {number}" for number in range(5)]
    assert read_all(http, job.name.job_id, pageSize=3) == mixed
    assert read_all(http, runs[1].name.job_id, pageSize=2) == second
    backwards = {"orderBy": "timestamp desc"}
    assert read_all(http, runs[1].name.job_id, pageSize=2, **backwards) == second[::-1]
    for field in ('labels."ml.googleapis.com/trial_id"', "labels.ml.googleapis.com/trial_id"):
        assert read_all(http, job.name.job_id, f' AND {field}="2"', pageSize=2) == second
    for asked in (job, runs[0]):
        entry = ask(http, asked.name.job_id).json()["entries"][0]
        assert entry["resource"]["labels"]["job_id"] == asked.name.job_id
        assert entry["labels"]["ml.googleapis.com/trial_id"] == "1"


def test_times_and_replicas_narrow_the_search(world: World, http: httpx.Client) -> None:
    job = world.submit()
    for number in range(20):
        world.print(job, f"m{number}")
        world.print(job, f"w{number}", replica="worker-replica-0")
    entries = ask(http, "job_1", pageSize=1000).json()["entries"]
    first, last = entries[10]["timestamp"], entries[29]["timestamp"]
    window = f' AND timestamp>="{first}" AND timestamp<"{last}"'
    expected = [entry["textPayload"] for entry in entries[10:29]]
    assert read_all(http, "job_1", window, pageSize=4) == expected
    backwards = read_all(http, "job_1", window, pageSize=4, orderBy="timestamp desc")
    assert backwards == expected[::-1]
    worker = ' AND resource.labels.task_name="worker-replica-0"'
    assert read_all(http, "job_1", worker, pageSize=3) == [f"w{n}" for n in range(20)]
    after = f' AND ((timestamp="{first}" AND insertId>"{entries[10]["insertId"]}") OR '
    after += f'timestamp>"{first}")'
    assert read_all(http, "job_1", after) == [entry["textPayload"] for entry in entries[11:]]


def test_structured_lines_have_a_payload(world: World, http: httpx.Client) -> None:
    job = world.submit()
    world.print(job, '{"severity": "WARNING", "message": "hm", "step": 3, "time": "now"}')
    (entry,) = ask(http, "job_1").json()["entries"]
    assert entry["severity"] == "WARNING"
    assert entry["jsonPayload"] == {
        "severity": "WARNING",
        "message": "hm",
        "step": 3,
        "time": "now",
    }


@pytest.mark.parametrize("job_id", ["unheard", "12345", "12345-1", "job_1-1", "1/2"])
def test_an_unknown_job_has_no_entries(http: httpx.Client, job_id: str) -> None:
    answer = ask(http, job_id)
    assert (answer.status_code, answer.json()) == (200, {})


def test_jobs_of_other_projects_are_not_found(world: World, http: httpx.Client) -> None:
    world.print(world.submit(TrainingJobName("other", "job_1")), "secret")
    assert ask(http, "job_1").json() == {}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"filter": "colour=red"}, "filter"),
        ({"filter": 'textPayload=~"(a"'}, "filter"),
        ({"filter": 'resource.labels.job_id="a'}, "filter"),
        ({"filter": 3}, "filter"),
        ({"resourceNames": []}, "resourceNames"),
        ({"resourceNames": ["organizations/1"]}, "resourceNames"),
        ({"resourceNames": [f"projects/p{n}" for n in range(101)]}, "resourceNames"),
        ({"resourceNames": "projects/a"}, "resourceNames"),
        ({"orderBy": "severity"}, "orderBy"),
        ({"pageSize": -1}, "pageSize"),
        ({"pageSize": "many"}, "pageSize"),
        ({"pageToken": "bm9uc2Vuc2U="}, "pageToken"),
        ({"pagesize": 3}, "pagesize"),
    ],
)
def test_a_wrong_request_names_the_field(
    world: World, http: httpx.Client, fields: dict[str, Any], field: str
) -> None:
    world.submit()
    body = {"resourceNames": ["projects/demo"], "filter": FILTER.format("job_1"), **fields}
    answer = http.post("/v2/entries:list", json=body)
    assert answer.status_code == 400
    (detail,) = answer.json()["error"]["details"]
    assert [violation["field"] for violation in detail["fieldViolations"]] == [field]


def test_a_token_belongs_to_its_list(world: World, http: httpx.Client) -> None:
    world.print(world.submit(), *number_lines(3))
    token = ask(http, "job_1", pageSize=1).json()["nextPageToken"]
    assert ask(http, "job_1", pageSize=1, pageToken=token).status_code == 200
    other = ask(http, "job_1", " AND severity=INFO", pageSize=1, pageToken=token)
    assert other.status_code == 400


def test_only_stream_logs_sees_the_last_five_seconds_at_once(
    world: World, http: httpx.Client
) -> None:
    world.print(world.submit(), "now")
    bound = ' AND timestamp<"2026-01-01T00:00:00.000000+00:00"'
    assert texts(ask(http, "job_1", bound)) == []
    http.headers.update(STREAM_LOGS)
    assert texts(ask(http, "job_1", bound)) == ["now"]


def test_stream_logs_sees_the_end_after_it_has_seen_the_lines(
    world: World, http: httpx.Client
) -> None:
    job = world.submit()
    url = f"/v1/{job.name}"
    quiet = http.headers["User-Agent"]
    http.headers.update(STREAM_LOGS)
    ask(http, "job_1")
    world.print(job, "last words")
    world.end(job.name)
    hidden = http.get(url)
    assert hidden.status_code == 200
    assert "endTime" not in hidden.json()
    assert "endTime" in http.get(url, headers={"User-Agent": quiet}).json()
    another = {"User-Agent": STREAM_LOGS["User-Agent"].replace("0123abcd", "feed")}
    assert "endTime" in http.get(url, headers=another).json()
    assert texts(ask(http, "job_1")) == ["last words"]
    assert "endTime" in http.get(url).json()


def test_errors_reach_a_follower_as_they_are(world: World, http: httpx.Client) -> None:
    job = world.submit()
    http.headers.update(STREAM_LOGS)
    ask(http, "job_1")
    assert http.get(f"/v1/{job.name}").status_code == 200
    assert http.get("/v1/projects/demo/jobs/unheard").status_code == 404


def test_entries_of_the_service_itself(world: World, http: httpx.Client) -> None:
    job = world.submit()
    world.print(job, "hello")
    world.print(job, "master-replica-0: exit code 1", replica="service", stream="stderr")

    entries = ask(http, "job_1").json()["entries"]
    found = [(e["resource"]["labels"]["task_name"], e["textPayload"]) for e in entries]
    assert found == [("master-replica-0", "hello"), ("service", "master-replica-0: exit code 1")]
    only = ask(http, "job_1", ' AND resource.labels.task_name="service"')
    assert texts(only) == ["master-replica-0: exit code 1"]
    own = http.get("/footplate/v1/projects/demo/jobs/job_1/logs").text
    assert "hello" in own
    assert "exit code" not in own


def list_all(http: httpx.Client, query: str = "", **fields: Any) -> list[tuple[str, str]]:
    """Job and text of each entry of the project, over all pages."""
    found: list[tuple[str, str]] = []
    token = ""
    while True:
        body = {"resourceNames": ["projects/demo"], "filter": query, "pageToken": token, **fields}
        answer = http.post("/v2/entries:list", json=body)
        assert answer.status_code == 200, answer.text
        found += [
            (entry["resource"]["labels"]["job_id"], entry["textPayload"])
            for entry in answer.json().get("entries", [])
        ]
        token = answer.json().get("nextPageToken", "")
        if not token:
            return found


def print_by_turns(world: World) -> list[tuple[str, str]]:
    """Lines of four jobs, which begin one after the other; and what was printed, in order."""
    jobs = [world.submit(TrainingJobName("demo", f"job_{number}")) for number in range(3)]
    jobs.append(world.submit(Location("demo", "us-central1")))
    world.print(world.submit(TrainingJobName("other", "job_9")), "of another project")
    printed = []
    for turn in range(12):
        for number, job in enumerate(jobs):
            if number <= turn <= number + 8:
                world.print(job, f"{number}: {turn}")
                printed.append((job.name.job_id, f"{number}: {turn}"))
    return printed


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_entries_of_a_project_come_in_the_order_of_their_times(
    world: World, http: httpx.Client, size: int
) -> None:
    printed = print_by_turns(world)
    assert list_all(http, pageSize=size) == printed
    assert list_all(http, pageSize=size, orderBy="timestamp desc") == printed[::-1]
    odd = [line for line in printed if line[1][0] in "13"]
    assert list_all(http, 'textPayload=~"^[13]:"', pageSize=size) == odd
    named = 'resource.labels.job_id=("job_0" OR "job_2" OR "unheard")'
    two = [line for line in printed if line[0] in ("job_0", "job_2")]
    assert list_all(http, named, pageSize=size) == two
    assert list_all(http, named, pageSize=size, orderBy="timestamp desc") == two[::-1]


def test_times_narrow_a_project(world: World, http: httpx.Client) -> None:
    printed = print_by_turns(world)
    body = {"resourceNames": ["projects/demo"], "pageSize": 1000}
    times = [e["timestamp"] for e in http.post("/v2/entries:list", json=body).json()["entries"]]
    window = f'timestamp>="{times[5]}" AND timestamp<"{times[20]}"'
    assert list_all(http, window, pageSize=4) == printed[5:20]
    assert list_all(http, window, pageSize=4, orderBy="timestamp desc") == printed[5:20][::-1]


def test_several_projects_at_once(world: World, http: httpx.Client) -> None:
    printed = print_by_turns(world)
    names = ["projects/demo", "projects/other/locations/global/buckets/_Default/views/_AllLogs"]
    found = list_all(http, resourceNames=names)
    assert found == [("job_9", "of another project"), *printed]


def test_entries_of_trials_are_in_a_project_once(world: World, http: httpx.Client) -> None:
    job, runs = world.tune()
    for run in runs:
        world.print(run, f"of {run.spec.trial}")
    assert list_all(http) == [(job.name.job_id, "of 1"), (job.name.job_id, "of 2")]


def test_too_many_jobs_are_refused(
    world: World, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    print_by_turns(world)
    monkeypatch.setattr(entries, "MAX_JOBS", 3)
    body = {"resourceNames": ["projects/demo"]}
    answer = http.post("/v2/entries:list", json=body)
    assert answer.status_code == 400
    assert "entries of more than 3 jobs; narrow its time" in answer.text
    assert len(list_all(http, 'resource.labels.job_id="job_0"')) == 9


def test_a_call_that_takes_long_says_where_to_go_on(
    world: World, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = print_by_turns(world)
    monkeypatch.setattr(entries, "MAX_TIME_S", 0.0)
    body = {"resourceNames": ["projects/demo"], "filter": "severity>=ERROR"}
    assert set(http.post("/v2/entries:list", json=body).json()) == {"nextPageToken"}
    assert list_all(http) == printed


@pytest.mark.parametrize("place", ["", "/locations/global/buckets/_Default/views/_AllLogs"])
def test_logs_of_a_project(world: World, http: httpx.Client, place: str) -> None:
    job = world.submit()
    world.print(job, "a")
    world.print(job, "b", replica="worker-replica-0")
    world.print(world.submit(Location("demo", "us-central1")), "c")
    world.submit(TrainingJobName("demo", "silent"))
    world.print(world.submit(TrainingJobName("other", "job_9")), "d")
    names = [
        f"projects/demo/logs/{name}"
        for name in ("master-replica-0", "worker-replica-0", "workerpool0-0")
    ]
    url = f"/v2/projects/demo{place}/logs"
    assert http.get(url).json() == {"logNames": names}
    first = http.get(url, params={"pageSize": 2}).json()
    assert first["logNames"] == names[:2]
    rest = http.get(url, params={"pageSize": 2, "pageToken": first["nextPageToken"]}).json()
    assert rest == {"logNames": names[2:]}
    assert http.get("/v2/projects/empty/logs").json() == {}
