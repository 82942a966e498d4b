"""Standing questions over HTTP: woken at once, without a thread each, let go at the end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.requests import Request

from footplate.api.app import create_app
from footplate.api.replica_v1 import control_request_routes
from footplate.api.security import Access
from footplate.control.control_requests import ControlRequestKind, ControlRequests
from footplate.control.tokens import Bearer, Tokens
from footplate.domain.errors import PermissionDenied
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, Replica
from footplate.domain.names import AttemptId
from footplate.protocol.control_requests import ControlResponse
from footplate.wire.control_requests import MAX_ANSWER_BYTES
from tests.support.deadlines import EVENT_S
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_spec
from tests.support.supervisor_process import wait_until

MASTER, WORKER = "master-replica-0", "worker-replica-0"
TOKENS = Tokens(b"k" * 32)
PATH = "/replica/v1/control-requests"


def bearer(request: Request) -> Bearer:
    found = TOKENS.check(request.headers["authorization"].removeprefix("Bearer "))
    if found.attempt_id.startswith("over"):
        raise PermissionDenied("over")
    return found


@pytest.fixture
def job() -> Job:
    spec = make_spec(workers=1)
    replicas = tuple(Replica(name, Phase.RUNNING) for name in spec.replica_names())
    return replace(make_job(spec=spec), state=State.RUNNING, attempt=1, replicas=replicas)


@pytest.fixture
def control_requests() -> ControlRequests:
    numbers = count()
    return ControlRequests(lambda: f"w{next(numbers)}", 2000)


@pytest.fixture
def url(control_requests: ControlRequests) -> Iterator[str]:
    with serve(create_app(control_request_routes(control_requests, bearer), Access())) as url:
        yield url
        control_requests.close()  # else the end would wait for questions that stand


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def header(attempt_id: str, replica: str = MASTER) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS.issue(Bearer(AttemptId(attempt_id), replica))}"}


def wait_for_question(control_requests: ControlRequests) -> None:
    wait_until(lambda: control_requests.standing == 1, "a question that stands")


def test_a_question_stands_until_there_is_a_control_request(
    control_requests: ControlRequests, job: Job, http: httpx.Client, pool: ThreadPoolExecutor
) -> None:
    standing = pool.submit(http.get, PATH, headers=header(job.attempt_id))
    wait_for_question(control_requests)
    control_request = control_requests.ask(job, MASTER, ControlRequestKind.STACKS)

    told = standing.result(EVENT_S).json()
    assert told["control_requests"] == [{"id": control_request.id, "kind": "stacks"}]
    answer = {"text": "here"}
    posted = http.post(f"{PATH}/{control_request.id}", json=answer, headers=header(job.attempt_id))
    assert (posted.status_code, posted.json()) == (200, {})
    assert control_requests.wait([control_request], 20) == (ControlResponse("here"),)


def test_what_is_wished_already_is_told_at_once_and_again_without_the_cursor(
    control_requests: ControlRequests, job: Job, http: httpx.Client, pool: ThreadPoolExecutor
) -> None:
    control_requests.ask(job, MASTER, ControlRequestKind.STACKS)
    first = http.get(PATH, headers=header(job.attempt_id)).json()
    assert http.get(PATH, headers=header(job.attempt_id)).json() == first
    after = {"after": first["cursor"]}
    standing = pool.submit(http.get, PATH, params=after, headers=header(job.attempt_id))
    wait_for_question(control_requests)
    second = control_requests.ask(job, MASTER, ControlRequestKind.STACKS)
    assert [w["id"] for w in standing.result(EVENT_S).json()["control_requests"]] == [second.id]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (header("abc-1", WORKER), 404),
        ({"Authorization": "Bearer a.b.c"}, 403),
        (header("over-1"), 403),
    ],
)
def test_only_the_replica_that_was_asked_is_heard(
    control_requests: ControlRequests,
    job: Job,
    http: httpx.Client,
    headers: dict[str, str],
    status: int,
) -> None:
    control_request = control_requests.ask(job, MASTER, ControlRequestKind.STACKS)
    answer = http.post(f"{PATH}/{control_request.id}", json={"text": "lies"}, headers=headers)
    assert answer.status_code == status
    assert not control_request.answered.done()


def test_an_answer_without_measure_is_refused(
    control_requests: ControlRequests, job: Job, http: httpx.Client
) -> None:
    control_request = control_requests.ask(job, MASTER, ControlRequestKind.STACKS)
    body = b'{"text": "' + b"x" * MAX_ANSWER_BYTES + b'"}'
    answer = http.post(f"{PATH}/{control_request.id}", content=body, headers=header(job.attempt_id))
    assert answer.status_code == 413


def test_an_answer_that_nobody_waits_for_is_not_read(job: Job, http: httpx.Client) -> None:
    nonsense = b"[" * MAX_ANSWER_BYTES
    answer = http.post(f"{PATH}/w9", content=nonsense, headers=header(job.attempt_id))
    assert answer.status_code == 404


def test_one_who_is_gone_holds_nothing(
    control_requests: ControlRequests, job: Job, url: str
) -> None:
    place = urlsplit(url)
    fields = {"Host": place.netloc, **header(job.attempt_id)}
    lines = [f"GET {PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    with socket.create_connection((place.hostname, place.port), EVENT_S) as connection:
        connection.sendall("\r\n".join((*lines, "", "")).encode())
        wait_until(lambda: control_requests.standing == 1, "the question")
    wait_until(lambda: not control_requests.standing, "the end of a question that nobody asks")


def test_the_end_of_the_server_answers_what_stands(
    control_requests: ControlRequests, job: Job, http: httpx.Client, pool: ThreadPoolExecutor
) -> None:
    standing = pool.submit(http.get, PATH, headers=header(job.attempt_id))
    wait_for_question(control_requests)
    control_requests.close()
    assert standing.result(EVENT_S).json()["control_requests"] == []


def test_a_thousand_questions_stand_without_a_thread_each(
    control_requests: ControlRequests,
) -> None:
    app = create_app(control_request_routes(control_requests, bearer), Access())
    threads = threading.active_count()

    async def ask(client: httpx.AsyncClient, number: int) -> Any:
        return (await client.get(PATH, headers=header(f"job-{number}"))).json()["control_requests"]

    async def ask_all() -> list[Any]:
        transport = SupervisorStatus(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            asking = [asyncio.create_task(ask(client, number)) for number in range(1000)]
            while control_requests.standing < 1000:
                await asyncio.sleep(0)
            assert threading.active_count() <= threads + 2
            control_requests.close()
            return await asyncio.gather(*asking)

    assert asyncio.run(ask_all()) == [[]] * 1000


class SupervisorStatus(httpx.ASGITransport):
    """One whose callers don't leave: the base says so as soon as it has sent the request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        app = self.app

        async def staying(scope: Any, receive: Any, send: Any) -> None:
            async def stay() -> Any:
                message = await receive()
                if message["type"] == "http.disconnect":
                    await asyncio.Event().wait()
                return message

            await app(scope, stay, send)

        return await httpx.ASGITransport(app=staying).handle_async_request(request)
