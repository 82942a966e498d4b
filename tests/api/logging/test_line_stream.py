"""Our own stream of lines: to the end of what there is, or to the end of the job."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.jobs import Job
from footplate.domain.names import JobName, TuningJobName
from footplate.domain.submission import Location
from tests.api.logging.conftest import TRAINING, World
from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    import httpx


def parse(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.split("\n") if line]


def test_lines_as_they_are_kept(world: World, http: httpx.Client) -> None:
    job = world.submit()
    text = 'ünï "quoted" \u2028 \x85 \x0b tab\t'
    world.print(job, text, '{"message": "structured", "step": 3}')
    world.print(job, "oh", replica="worker-replica-0", stream="stderr")
    first, second, third = parse(http.get(f"/footplate/v1/{job.name}/logs"))
    assert (first["message"], first["severity"], first["sequence"]) == (text, "INFO", 1)
    assert (first["replica"], first["attempt"]) == ("master-replica-0", 1)
    assert second["payload"] == {"message": "structured", "step": 3}
    assert (third["severity"], third["replica"]) == ("ERROR", "worker-replica-0")
    assert first["timestamp"] < second["timestamp"] < third["timestamp"]


def test_a_reader_goes_on_after_any_line(world: World, http: httpx.Client) -> None:
    job = world.submit(Location("demo", "us-central1"))
    world.print(job, *(f"line {number}" for number in range(2500)))
    url = f"/footplate/v1/{job.name}/logs"
    lines = parse(http.get(url))
    assert [line["message"] for line in lines] == [f"line {number}" for number in range(2500)]
    rest = parse(http.get(url, params={"cursor": lines[1233]["cursor"]}))
    assert rest == lines[1234:]


def test_one_replica_alone(world: World, http: httpx.Client) -> None:
    job = world.submit()
    world.print(job, "a")
    world.print(job, "another's", replica="worker-replica-0")
    for name in ("master-replica-0", "chief"):
        answer = http.get(f"/footplate/v1/{job.name}/logs", params={"replica": name})
        assert [line["message"] for line in parse(answer)] == ["a"]


def test_a_replica_that_the_job_does_not_have(world: World, http: httpx.Client) -> None:
    job = world.submit()
    url = f"/footplate/v1/{job.name}/logs"
    answer = http.get(url, params={"replica": "worker-1", "follow": "true"})
    told = "there is no replica 'worker-1'; there are master-replica-0"
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, told)


def read(http: httpx.Client, job: Job, **params: str) -> list[tuple[str, str]]:
    """Trial and message of each line."""
    answer = http.get(f"/footplate/v1/{job.name}/logs", params=params)
    return [(line.get("trial", ""), line["message"]) for line in parse(answer)]


@pytest.mark.parametrize(
    "name", [TRAINING, TuningJobName("demo", "us-central1", "123")], ids=["ml", "vertex"]
)
def test_the_lines_of_all_trials_are_those_of_the_tuning_job(
    world: World, http: httpx.Client, name: JobName
) -> None:
    job, (first, second) = world.tune(name)
    world.print(first, "a1", "b1")
    world.print(second, "a2")
    world.print(first, "c1")
    assert read(http, job) == [("1", "a1"), ("1", "b1"), ("2", "a2"), ("1", "c1")]
    of_first, of_second = [("1", "a1"), ("1", "b1"), ("1", "c1")], [("2", "a2")]
    assert read(http, job, trial="1") == read(http, first) == of_first
    assert read(http, job, trial="2") == read(http, second) == of_second
    answer = http.get(f"/footplate/v1/{first.name}/logs")
    assert read(http, first, cursor=parse(answer)[0]["cursor"]) == of_first[1:]


def test_a_trial_that_has_not_started(world: World, http: httpx.Client) -> None:
    job, _ = world.tune(trials=1)
    answer = http.get(f"/footplate/v1/{job.name}/logs", params={"trial": "2", "follow": "true"})
    told = "trial 2 of the job projects/demo/jobs/job_1 doesn't exist, or hasn't started"
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, told)


def test_only_tuning_jobs_have_trials(world: World, http: httpx.Client) -> None:
    job = world.submit()
    answer = http.get(f"/footplate/v1/{job.name}/logs", params={"trial": "1"})
    assert answer.status_code == 400
    assert "isn't a tuning job" in answer.json()["error"]["message"]


def test_followers_of_a_trial_and_of_its_job_each_end_with_theirs(
    world: World, http: httpx.Client
) -> None:
    job, (first, second) = world.tune()
    params = {"follow": "true"}
    with http.stream("GET", f"/footplate/v1/{job.name}/logs", params=params) as answer:
        lines = (json.loads(line)["message"] for line in answer.iter_lines() if line)
        with http.stream("GET", f"/footplate/v1/{first.name}/logs", params=params) as run_answer:
            own = (json.loads(line)["message"] for line in run_answer.iter_lines() if line)
            world.print(second, "another's")
            world.print(first, "mine")
            assert (next(lines), next(lines), next(own)) == ("another's", "mine", "mine")
            world.end(first.name)
            assert list(own) == []
        world.print(second, "on it goes")
        assert next(lines) == "on it goes"
        world.end(job.name)
        assert list(lines) == []


def test_a_follower_gets_each_line_at_once_and_ends_with_the_job(
    world: World, http: httpx.Client
) -> None:
    job = world.submit()
    world.print(job, "first")
    params = {"follow": "true"}
    with http.stream("GET", f"/footplate/v1/{job.name}/logs", params=params) as answer:
        lines = (line for line in answer.iter_lines() if line)
        assert json.loads(next(lines))["message"] == "first"
        for number in range(5):
            world.print(job, f"{number}a", f"{number}b")
            assert json.loads(next(lines))["message"] == f"{number}a"
            assert json.loads(next(lines))["message"] == f"{number}b"
        world.print(job, "last")
        world.end(job.name)
        assert [json.loads(line)["message"] for line in lines] == ["last"]


def test_following_an_ended_job_ends_at_once(world: World, http: httpx.Client) -> None:
    job = world.submit()
    world.print(job, "a")
    world.end(job.name)
    answer = http.get(f"/footplate/v1/{job.name}/logs", params={"follow": "true"})
    assert [line["message"] for line in parse(answer)] == ["a"]


def test_many_followers_hold_no_threads(world: World, http: httpx.Client, url: str) -> None:
    """More than the server has threads; all get everything, and others are still served."""
    job = world.submit()
    results: list[list[str]] = []

    def follow() -> None:
        with http.stream(
            "GET", f"{url}/footplate/v1/{job.name}/logs", params={"follow": "true"}
        ) as answer:
            results.append([json.loads(line)["message"] for line in answer.iter_lines() if line])

    before = threading.active_count()
    followers = [threading.Thread(target=follow) for _ in range(90)]
    for follower in followers:
        follower.start()
    for number in range(20):
        world.print(job, str(number))
    assert http.get(f"/v1/{job.name}").status_code == 200
    assert threading.active_count() - before - len(followers) < 60
    world.end(job.name)
    for follower in followers:
        follower.join(EVENT_S)
    assert results == [[str(number) for number in range(20)]] * 90


@pytest.mark.parametrize(
    "params",
    [
        {"cursor": "-1"},
        {"cursor": "x"},
        {"cursor": "3"},
        {"cursor": "9" * 18},
        {"follow": "yes"},
        {"trial": "x"},
    ],
)
def test_an_invalid_request_is_refused(
    world: World, http: httpx.Client, params: dict[str, str]
) -> None:
    job = world.submit()
    world.print(job, "a")
    answer = http.get(f"/footplate/v1/{job.name}/logs", params=params)
    assert answer.status_code == 400
    assert next(iter(params)) in answer.json()["error"]["message"]


@pytest.mark.parametrize("name", ["projects/demo/jobs/unheard", "nonsense"])
def test_an_unknown_job_is_not_found(http: httpx.Client, name: str) -> None:
    answer = http.get(f"/footplate/v1/{name}/logs", params={"follow": "true"})
    assert answer.status_code == 404
