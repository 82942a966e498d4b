"""``:stacks`` over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.stacks import stacks_routes
from footplate.api.security import Access
from footplate.client.service import Service
from footplate.control.control_requests import ControlRequests
from footplate.control.stacks import Stacks
from footplate.control.tokens import Bearer
from footplate.domain.errors import NotFound
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Replica
from footplate.domain.names import parse_job_name
from footplate.protocol.control_requests import ControlResponse
from tests.support.http_server import serve
from tests.support.jobs import make_custom_name, make_job, make_spec
from tests.support.store import MemoryStore

NAME = make_custom_name()
FIRST, SECOND = "workerpool0-0", "workerpool1-0"
PATH = f"/footplate/v1/{NAME}:stacks"


def told(line: int) -> str:
    frames = [{"function": "train", "file": "trainer/task.py", "line": line}]
    threads = [{"name": "MainThread", "frames": frames}]
    process = {"pid": 7, "command": "python", "program": True, "threads": threads}
    return json.dumps({"processes": [process]})


@pytest.fixture
def url() -> Iterator[str]:
    """Of a service with one job, whose first replica answers and whose second one can't."""
    numbers = count()
    control_requests = ControlRequests(lambda: f"w{next(numbers)}", 10)
    spec = make_spec(NAME, workers=1)
    replicas = tuple(Replica(name, Phase.RUNNING) for name in spec.replica_names())
    job = make_job(NAME, spec=spec)
    store = MemoryStore()
    store.create(replace(job, state=State.RUNNING, attempt=1, replicas=replicas), ())
    answers = {FIRST: ControlResponse(told(3)), SECOND: ControlResponse(error="not permitted")}

    def let_answer(replica: str) -> None:
        asked = Bearer(store.get(NAME).attempt_id, replica)

        def wake() -> None:
            for control_request in control_requests.pending(asked, "")[0]:
                control_requests.answer(control_request.id, asked, answers[replica])

        control_requests.hold(asked, wake)

    for replica in answers:
        let_answer(replica)
    with serve(create_app(stacks_routes(Stacks(control_requests), store.get), Access())) as url:
        yield url


def test_the_client_reads_what_the_service_says(url: str) -> None:
    with Service(url) as service:
        comparison = service.stacks(NAME).comparison
        only = service.stacks(NAME, ["chief", FIRST]).comparison
    assert [[m.replica for m in place.members] for place in comparison.places] == [[FIRST]]
    assert [(each.replica, each.reason) for each in comparison.missing] == [
        (SECOND, "not permitted")
    ]
    assert only.missing == ()


def test_what_can_not_be_asked_is_an_error(url: str) -> None:
    with Service(url) as service:
        with pytest.raises(NotFound, match="there are workerpool0-0, workerpool1-0"):
            service.stacks(NAME, ["workerpool7-0"])
        with pytest.raises(NotFound):
            service.stacks(parse_job_name("projects/demo/jobs/nobody"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"replicas": "a"}, '\\"a\\" given; allowed: a list of at most 1000 names'),
        ({"replicas": [1]}, "[1] given"),
        ({"replicas": None}, "null given"),
        ({"replicas": ["a"] * 1001}, "allowed: a list of at most 1000"),
        ({"replica": "a"}, "replica: this field can't be set; allowed: replicas"),
    ],
)
def test_a_wrong_request_says_what_is_allowed(
    url: str, body: dict[str, object], words: str
) -> None:
    answer = httpx.post(f"{url}{PATH}", json=body)
    assert answer.status_code == 400
    assert words in answer.text


def test_no_body_means_all(url: str) -> None:
    assert httpx.post(f"{url}{PATH}").status_code == 200
    assert httpx.get(f"{url}{PATH}").status_code == 405
