"""Pages of a job's lines, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.jobs import Job
from footplate.domain.log_lines import Line
from tests.api.logging.conftest import TRAINING, World

if TYPE_CHECKING:
    import httpx

URL = f"/footplate/v1/{TRAINING}/lines"
SEVERITIES = ("INFO", "WARNING", "INFO", "ERROR")
COUNT = 40


@pytest.fixture
def job(world: World) -> Job:
    """Line N is of one of two replicas, each tenth of it a step that can be looked for."""
    job = world.submit()
    for number in range(COUNT):
        text = f"line {number}" + (" Epoch" if number % 10 == 0 else "")
        line = Line(number + 1, job.create_time, SEVERITIES[number % 4], text)
        world.logs.append(job.uid, 1, f"worker-replica-{number % 2}", [line])
    return job


def get(http: httpx.Client, **query: object) -> dict[str, Any]:
    answer = http.get(URL, params={name: str(value) for name, value in query.items()})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def numbers(page: dict[str, Any]) -> list[int]:
    return [int(line["message"].split()[1]) for line in page["lines"]]


@pytest.mark.usefixtures("job")
def test_pages_go_on_in_both_directions(http: httpx.Client) -> None:
    first = get(http, limit=15)
    assert (numbers(first), first["start"], first["more"]) == (list(range(15)), 0, True)
    rest = get(http, cursor=first["cursor"])
    assert (numbers(rest), rest["cursor"], rest["more"]) == (
        list(range(15, COUNT)),
        rest["size"],
        False,
    )
    end = get(http, back="true", limit=5)
    assert (numbers(end), end["start"], end["more"]) == (list(range(35, 40)), end["size"], True)
    begin = get(http, back="true", cursor=end["cursor"], limit=100)
    assert (numbers(begin), begin["cursor"], begin["more"]) == (list(range(35)), 0, False)


@pytest.mark.usefixtures("job")
def test_any_position_is_near_a_line(http: httpx.Client) -> None:
    size = get(http, limit=1)["size"]
    middle = get(http, at=size // 2, limit=1)
    assert abs(middle["start"] - size // 2) < 2 * size // COUNT
    assert numbers(get(http, cursor=middle["start"], limit=1)) == numbers(middle)
    assert get(http, at=size * 2)["lines"] == []


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"severity": "ERROR"}, list(range(3, COUNT, 4))),
        ({"severity": "WARNING", "replica": "worker-replica-1"}, list(range(1, COUNT, 2))),
        ({"contains": "ePOCH"}, [0, 10, 20, 30]),
        ({"attempt": "1", "contains": "line 7"}, [7]),
        ({"attempt": "2"}, []),
        ({"replica": "none"}, []),
    ],
)
def test_lines_are_chosen(http: httpx.Client, query: dict[str, str], expected: list[int]) -> None:
    for back in ("", "true"):
        page = get(http, back=back, **query)
        assert numbers(page) == expected
        assert not page["more"]


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("name", ["cursor", "at", "limit", "severity", "attempt"])
@pytest.mark.parametrize("value", ["-1", "x", "1e3", "99999999999999999999", "\u0663"])
def test_bad_values_are_named(http: httpx.Client, name: str, value: str) -> None:
    answer = http.get(URL, params={name: value})
    assert answer.status_code == 400
    assert name in answer.json()["error"]["message"]


def test_a_job_without_lines_has_an_empty_page(http: httpx.Client, world: World) -> None:
    world.submit()
    page = get(http)
    assert page == {"lines": [], "start": 0, "cursor": 0, "size": 0, "more": False}
    assert http.get(f"{URL.replace('job_1', 'none')}").status_code == 404


def test_a_page_has_200_lines_where_nothing_else_was_asked_for(
    http: httpx.Client, world: World, job: Job
) -> None:
    more = [Line(number, job.create_time, "INFO", f"line {number}") for number in range(1, 202)]
    world.logs.append(job.uid, 1, "worker-replica-2", more)
    assert len(get(http, replica="worker-replica-2")["lines"]) == 200


def test_an_answer_is_bounded_in_bytes(http: httpx.Client, world: World) -> None:
    job = world.submit()
    world.logs.append(
        job.uid,
        1,
        "master-replica-0",
        [Line(n, job.create_time, "INFO", "x" * 60_000) for n in range(1, 401)],
    )
    count, cursor, more = 0, 0, True
    while more:
        answer = http.get(URL, params={"limit": 5000, "cursor": cursor})
        assert len(answer.content) < 9 << 20
        page = answer.json()
        count, cursor, more = count + len(page["lines"]), page["cursor"], page["more"]
    assert count == 400
