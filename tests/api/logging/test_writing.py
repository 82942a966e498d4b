"""``entries:write``, by programs and by users."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from footplate.domain.job_states import Phase
from footplate.domain.jobs import Replica
from footplate.domain.names import TrainingJobName
from tests.api.logging.conftest import World, build
from tests.support.http_server import serve

PYTHON = "projects/demo/logs/python"
OF_JOB = {"type": "ml_job", "labels": {"job_id": "job_1"}}

DEEP: dict[str, Any] = {}
for _ in range(60):
    DEEP = {"a": DEEP}


def write(http: httpx.Client, *entries: Any, key: str = "", **fields: Any) -> httpx.Response:
    body = {"logName": PYTHON, "entries": list(entries), **fields}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return http.post("/v2/entries:write", json=body, headers=headers)


def read(http: httpx.Client, query: str = "") -> list[dict[str, Any]]:
    body = {"resourceNames": ["projects/demo"], "filter": query}
    answer = http.post("/v2/entries:list", json=body)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json().get("entries", [])
    return found


def texts(http: httpx.Client, query: str = "") -> list[str]:
    return [
        entry.get("textPayload") or json.dumps(entry["jsonPayload"]) for entry in read(http, query)
    ]


def test_what_a_program_writes_is_in_its_jobs_log(world: World, http: httpx.Client) -> None:
    key = world.key(world.start(), 1)
    entry = {
        "severity": "WARNING",
        "jsonPayload": {"message": "hm", "step": 3, "deep": {"rate": 0.5}},
        "labels": {"python_logger": "trainer"},
        "timestamp": "2026-01-02T03:04:05.5Z",
        "insertId": "id 1",
        "sourceLocation": {"file": "task.py", "line": "12", "function": "main"},
        "httpRequest": {"requestMethod": "GET", "status": 200, "latency": "1.5s"},
        "trace": "projects/demo/traces/1",
        "spanId": "2",
        "traceSampled": True,
        "operation": {"id": "o", "first": True},
    }
    answer = write(http, entry, key=key, labels={"team": "ads"})
    assert (answer.status_code, answer.json()) == (200, {})
    (found,) = read(http)
    assert found["logName"] == PYTHON
    assert found["resource"]["labels"] == {
        "project_id": "demo",
        "job_id": "job_1",
        "task_name": "worker-replica-0",
    }
    assert found["labels"]["python_logger"] == "trainer"
    assert found["labels"]["team"] == "ads"
    assert found["labels"]["printed"] == "2026-01-02T03:04:05.500000Z"
    for name in entry.keys() - {"labels", "timestamp"}:
        assert found[name] == entry[name], name


def test_text_and_entries_without_a_payload(world: World, http: httpx.Client) -> None:
    key = world.key(world.start())
    answer = write(
        http, {"textPayload": "plain"}, {"severity": 500}, {"severity": "error"}, key=key
    )
    assert answer.json() == {}
    found = read(http)
    assert [entry["textPayload"] for entry in found] == ["plain", "", ""]
    assert [entry["severity"] for entry in found] == ["DEFAULT", "ERROR", "ERROR"]
    assert found[0]["resource"]["labels"]["task_name"] == "master-replica-0"


def test_queries_find_what_was_written(world: World, http: httpx.Client) -> None:
    job = world.start()
    world.print(job, "printed")
    payload = {"message": "structured", "loss": 0.25}
    entry = {"jsonPayload": payload, "labels": {"k": "v"}, "sourceLocation": {"file": "a.py"}}
    write(http, entry, {"textPayload": "written"}, key=world.key(job))
    assert texts(http, 'log_id("python")') == [json.dumps(payload), "written"]
    assert texts(http, f'logName="{PYTHON}" jsonPayload.loss<0.3 labels.k=v') == [
        json.dumps(payload)
    ]
    assert texts(http, 'sourceLocation.file=~"[.]py$"') == [json.dumps(payload)]
    assert texts(http, 'resource.labels.job_id="job_1" AND NOT log_id("python")') == ["printed"]
    names = http.get("/v2/projects/demo/logs").json()["logNames"]
    assert names == ["projects/demo/logs/master-replica-0", PYTHON]


def test_footplates_own_api_shows_it_among_the_lines(world: World, http: httpx.Client) -> None:
    job = world.start()
    world.print(job, "printed")
    write(http, {"jsonPayload": {"a": 1}, "labels": {"k": "v"}}, key=world.key(job))
    lines = [
        json.loads(line) for line in http.get(f"/footplate/v1/{job.name}/logs").text.splitlines()
    ]
    assert [line["message"] for line in lines] == ["printed", '{"a":1}']
    assert [(line.get("log"), line.get("labels")) for line in lines] == [
        (None, None),
        ("python", {"k": "v"}),
    ]
    assert lines[1]["payload"] == {"a": 1}


def test_the_key_may_stand_in_the_address(world: World, http: httpx.Client) -> None:
    key = world.key(world.start(), 1)
    body = {"logName": PYTHON, "entries": [{"textPayload": "here"}]}
    answer = http.post(f"/programs/{key}/v2/entries:write", json=body)
    assert (answer.status_code, answer.json()) == (200, {})
    assert read(http)[0]["resource"]["labels"]["task_name"] == "worker-replica-0"
    assert http.post(f"/programs/{key}/v2/entries:list", json={}).status_code == 404
    assert http.post("/programs/wrong/v2/entries:write", json=body).status_code == 403


@pytest.mark.parametrize("token", [None, "secret"])
def test_a_program_that_may_not_call_writes_and_does_nothing_else(
    world: World, token: str | None
) -> None:
    job = world.start()
    world.programs, world.may_call = {str(job.name)}, False
    with serve(build(world, token)) as url, httpx.Client(base_url=url) as http:
        assert write(http, {"textPayload": "mine"}, key=world.key(job)).json() == {}
        assert write(http, {"textPayload": "nobody's"}).status_code == 403
        assert write(http, {"textPayload": "wrong"}, key="wrong").status_code == 403
        asked = {"headers": {"Authorization": f"Bearer {world.key(job)}"}, "json": {}}
        assert http.post("/v2/entries:list", **asked).status_code == 403  # type: ignore[arg-type]  # a header and a body
    (entry,) = world.logs.read(job.log).entries
    assert entry.line.message == "mine"


@pytest.mark.parametrize("by_key", [True, False])
def test_a_program_writes_to_its_own_job_alone(
    world: World, http: httpx.Client, *, by_key: bool
) -> None:
    job, other = world.start(), world.start(TrainingJobName("demo", "job_2"))
    key = world.key(job) if by_key else ""
    world.programs = set() if by_key else {str(job.name)}
    for fields in (
        {"resource": {"type": "ml_job", "labels": {"job_id": "job_2"}}},
        {"logName": "projects/other/logs/python"},
    ):
        answer = write(http, {"textPayload": "x"}, key=key, **fields)
        assert answer.status_code == 403
        assert "may write only to its own job's log" in answer.text
    assert write(http, {"textPayload": "mine"}, key=key, resource=OF_JOB).json() == {}
    assert len(world.logs.read(job.log).entries) == 1
    assert world.logs.read(other.log).entries == ()


def test_a_program_writes_as_its_own_replica(world: World, http: httpx.Client) -> None:
    job = world.start()
    worker = {"type": "ml_job", "labels": {"task_name": "worker-replica-0"}}
    answer = write(http, {"resource": worker, "textPayload": "x"}, key=world.key(job))
    assert answer.status_code == 403
    assert "only log entries of its own replica, master-replica-0" in answer.text
    world.programs = {str(job.name)}  # of which replica isn't known then
    assert write(http, {"resource": worker, "textPayload": "x"}).json() == {}
    assert read(http)[0]["resource"]["labels"]["task_name"] == "worker-replica-0"


def test_the_key_of_a_start_that_is_over_writes_nothing(world: World, http: httpx.Client) -> None:
    job = world.start()
    key = world.key(job)
    replicas = (Replica(job.replicas[0].name, Phase.RUNNING, restart=1), *job.replicas[1:])
    world.jobs.store.update(replace(job, replicas=replicas, version=job.version + 1), ())
    assert write(http, {"textPayload": "late"}, key=key).status_code == 403
    again = world.jobs.get(job.name)
    bearer = replace(world.bearer(again), restart=1)
    path = world.storage.path(bearer)
    body = {"logName": PYTHON, "entries": [{"textPayload": "again"}]}
    assert http.post(f"{path}/v2/entries:write", json=body).json() == {}
    assert read(http)[0]["labels"]["restart"] == "1"


def test_a_user_names_the_job(world: World, http: httpx.Client) -> None:
    job = world.start()
    answer = write(http, {"textPayload": "x"})
    assert answer.status_code == 400
    assert (
        "the service keeps log entries only for jobs, and these entries name no job" in answer.text
    )
    assert write(http, {"textPayload": "x"}, resource=OF_JOB).json() == {}
    unheard = {"type": "ml_job", "labels": {"job_id": "unheard"}}
    assert write(http, {"textPayload": "x"}, resource=unheard).status_code == 404
    odd = {"type": "ml_job", "labels": {"job_id": "job_1", "task_name": "ps-replica-9"}}
    answer = write(http, {"textPayload": "x"}, resource=odd)
    assert answer.status_code == 400
    assert "allowed: a replica of projects/demo/jobs/job_1: master-replica-0" in answer.text
    world.end(job.name)
    answer = write(http, {"textPayload": "x"}, resource=OF_JOB)
    assert answer.status_code == 400
    assert "has ended: its log takes no more entries" in answer.text
    assert len(world.logs.read(job.log).entries) == 1


def test_the_run_of_a_trial_writes_to_the_log_of_its_search(
    world: World, http: httpx.Client
) -> None:
    job, runs = world.tune()
    replicas = (Replica("master-replica-0", Phase.RUNNING),)
    run = replace(runs[1], attempt=1, replicas=replicas, version=runs[1].version + 1)
    world.jobs.store.update(run, ())
    named = {"type": "ml_job", "labels": {"job_id": job.name.job_id}}
    for fields in ({}, {"resource": named}):
        assert write(http, {"textPayload": "t"}, key=world.key(run), **fields).json() == {}
    for entry in read(http):
        assert entry["labels"]["ml.googleapis.com/trial_id"] == "2"
        assert entry["resource"]["labels"]["job_id"] == job.name.job_id


def test_what_comes_again_is_kept_once(world: World, http: httpx.Client) -> None:
    key = world.key(world.start())
    first, second = ({"textPayload": text, "insertId": text} for text in "ab")
    assert write(http, first, first, key=key).json() == {}
    assert write(http, first, second, key=key).json() == {}
    assert write(http, {**first, "logName": "projects/demo/logs/other"}, key=key).json() == {}
    for _ in range(2):
        assert write(http, {"textPayload": "c"}, key=key).json() == {}
    assert texts(http) == ["a", "b", "a", "c", "c"]


def test_a_dry_run_keeps_nothing(world: World, http: httpx.Client) -> None:
    key = world.key(world.start())
    assert write(http, {"textPayload": "x"}, key=key, dryRun=True).json() == {}
    assert write(http, {"textPayload": "x"}, key=key, dry_run=True).json() == {}
    assert write(http, {"severity": "LOUD"}, key=key, dryRun=True).status_code == 400
    assert read(http) == []


def test_what_clients_tell_google_of_themselves_is_left_out(
    world: World, http: httpx.Client
) -> None:
    source = {"instrumentation_source": [{"name": "python", "version": "3.17.0"}]}
    diagnostic = {
        "logName": "projects/demo/logs/diagnostic-log",
        "jsonPayload": {"logging.googleapis.com/diagnostic": source},
    }
    answer = write(http, {"textPayload": "x"}, diagnostic, key=world.key(world.start()))
    assert answer.json() == {}
    assert texts(http) == ["x"]


@pytest.mark.parametrize(
    ("entry", "field", "problem"),
    [
        ({"protoPayload": {"@type": "t"}}, "entries[0].protoPayload", "textPayload or jsonPayload"),
        ({"textPayload": "a", "jsonPayload": {}}, "entries[0].jsonPayload", "one of the two"),
        ({"logName": "folders/1/logs/a"}, "entries[0].logName", "projects/PROJECT/logs/LOG_ID"),
        ({"logName": "projects/demo/logs/a%20b"}, "entries[0].logName", "LOG_ID"),
        ({"severity": "LOUD"}, "entries[0].severity", "DEFAULT, DEBUG"),
        ({"severity": 250}, "entries[0].severity", "DEFAULT, DEBUG"),
        ({"severity": True}, "entries[0].severity", "DEFAULT, DEBUG"),
        ({"insertId": "x" * 513}, "entries[0].insertId", "at most 512 characters"),
        ({"textPayload": "x" * (256 << 10)}, "entries[0]", "at most 262144"),
        ({"textPayload": 3}, "entries[0].textPayload", "a string"),
        ({"jsonPayload": []}, "entries[0].jsonPayload", "an object"),
        ({"jsonPayload": DEEP}, "entries[0].jsonPayload", "at most 50 levels"),
        ({"labels": {"a": 1}}, "entries[0].labels.a", "a string"),
        ({"timestamp": "yesterday"}, "entries[0].timestamp", "a time with its zone"),
        ({"httpRequest": {"latency": "soon"}}, "entries[0].httpRequest.latency", ""),
        ({"sourceLocation": {"line": "x"}}, "entries[0].sourceLocation.line", "an integer"),
        ({"textPayloads": "x"}, "entries[0].textPayloads", "did you mean textPayload"),
    ],
)
@pytest.mark.parametrize("partial", [True, False])
def test_what_cannot_be_kept_is_refused_by_name(
    world: World, http: httpx.Client, entry: Any, field: str, problem: str, *, partial: bool
) -> None:
    key = world.key(world.start())
    answer = write(http, entry, {"textPayload": "good"}, key=key, partialSuccess=partial)
    assert answer.status_code == 400
    (detail,) = answer.json()["error"]["details"]
    (violation,) = detail["fieldViolations"]
    assert violation["field"] == field
    assert problem in violation["description"]
    assert texts(http) == (["good"] if partial else [])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"logName": ""}, "entries[0].logName"),
        ({"entries": {}}, "entries"),
        ({"resource": "ml_job"}, "resource"),
        ({"labels": {"a": 1}}, "labels.a"),
        ({"partial": True}, "partial"),
    ],
)
def test_a_wrong_request_names_the_field(
    world: World, http: httpx.Client, fields: Any, field: str
) -> None:
    body = {"logName": PYTHON, "entries": [{"textPayload": "x"}], "partialSuccess": True, **fields}
    headers = {"Authorization": f"Bearer {world.key(world.start())}"}
    answer = http.post("/v2/entries:write", json=body, headers=headers)
    assert answer.status_code == 400
    (detail,) = answer.json()["error"]["details"]
    assert [violation["field"] for violation in detail["fieldViolations"]] == [field]
    assert texts(http) == []
