"""Standing questions over HTTP: woken at once, without a thread each, let go at the end."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.replica_wishes import wish_routes
from footplate.api.security import Access
from footplate.control.tokens import Bearer, Tokens
from footplate.control.wishes import Wishes, WishKind
from footplate.domain.errors import PermissionDenied
from footplate.domain.jobs import Replica
from footplate.domain.names import AttemptId
from footplate.domain.states import Phase, State
from footplate.wire.wishes import MAX_ANSWER_BYTES, WishAnswer
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_spec
from tests.support.supervised import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from footplate.domain.jobs import Job

MASTER, WORKER = "master-replica-0", "worker-replica-0"
TOKENS = Tokens(b"k" * 32)
PATH = "/replica/v1/wishes"


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
def wishes() -> Wishes:
    numbers = count()
    return Wishes(lambda: f"w{next(numbers)}", 2000)


@pytest.fixture
def url(wishes: Wishes) -> Iterator[str]:
    with serve(create_app(wish_routes(wishes, bearer), Access())) as url:
        yield url
        wishes.close()  # else the end would wait for questions that stand


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


def wait_for_question(wishes: Wishes) -> None:
    wait_until(lambda: wishes.standing == 1, "a question that stands")


def test_a_question_stands_until_there_is_a_wish(
    wishes: Wishes, job: Job, http: httpx.Client, pool: ThreadPoolExecutor
) -> None:
    standing = pool.submit(http.get, PATH, headers=header(job.attempt_id))
    wait_for_question(wishes)
    wish = wishes.ask(job, MASTER, WishKind.STACKS)

    told = standing.result(20).json()
    assert told["wishes"] == [{"id": wish.id, "kind": "stacks"}]
    answer = {"text": "here"}
    posted = http.post(f"{PATH}/{wish.id}", json=answer, headers=header(job.attempt_id))
    assert (posted.status_code, posted.json()) == (200, {})
    assert wishes.wait([wish], 20) == (WishAnswer("here"),)


def test_what_is_wished_already_is_told_at_once_and_again_without_the_cursor(
    wishes: Wishes, job: Job, http: httpx.Client, pool: ThreadPoolExecutor
) -> None:
    wishes.ask(job, MASTER, WishKind.STACKS)
    first = http.get(PATH, headers=header(job.attempt_id)).json()
    assert http.get(PATH, headers=header(job.attempt_id)).json() == first
    after = {"after": first["cursor"]}
    standing = pool.submit(http.get, PATH, params=after, headers=header(job.attempt_id))
    wait_for_question(wishes)
    second = wishes.ask(job, MASTER, WishKind.STACKS)
    assert [w["id"] for w in standing.result(20).json()["wishes"]] == [second.id]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (header("abc-1", WORKER), 404),
        ({"Authorization": "Bearer a.b.c"}, 403),
        (header("over-1"), 403),
    ],
)
def test_only_the_replica_that_was_asked_is_heard(
    wishes: Wishes, job: Job, http: httpx.Client, headers: dict[str, str], status: int
) -> None:
    wish = wishes.ask(job, MASTER, WishKind.STACKS)
    answer = http.post(f"{PATH}/{wish.id}", json={"text": "lies"}, headers=headers)
    assert answer.status_code == status
    assert not wish.answered.done()


def test_an_answer_without_measure_is_refused(wishes: Wishes, job: Job, http: httpx.Client) -> None:
    wish = wishes.ask(job, MASTER, WishKind.STACKS)
    body = b'{"text": "' + b"x" * MAX_ANSWER_BYTES + b'"}'
    answer = http.post(f"{PATH}/{wish.id}", content=body, headers=header(job.attempt_id))
    assert answer.status_code == 413


def test_an_answer_that_nobody_waits_for_is_not_read(job: Job, http: httpx.Client) -> None:
    nonsense = b"[" * MAX_ANSWER_BYTES
    answer = http.post(f"{PATH}/w9", content=nonsense, headers=header(job.attempt_id))
    assert answer.status_code == 404


def test_one_who_is_gone_holds_nothing(wishes: Wishes, job: Job, url: str) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(f"{url}{PATH}", headers=header(job.attempt_id), timeout=0.2)
    wait_until(lambda: not wishes.standing, "the end of a question that nobody asks")


def test_the_end_of_the_server_answers_what_stands(
    wishes: Wishes, job: Job, http: httpx.Client, pool: ThreadPoolExecutor
) -> None:
    standing = pool.submit(http.get, PATH, headers=header(job.attempt_id))
    wait_for_question(wishes)
    wishes.close()
    assert standing.result(20).json()["wishes"] == []


def test_a_thousand_questions_stand_without_a_thread_each(wishes: Wishes) -> None:
    app = create_app(wish_routes(wishes, bearer), Access())
    threads = threading.active_count()

    async def ask(client: httpx.AsyncClient, number: int) -> Any:
        return (await client.get(PATH, headers=header(f"job-{number}"))).json()["wishes"]

    async def ask_all() -> list[Any]:
        transport = Standing(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            asking = [asyncio.create_task(ask(client, number)) for number in range(1000)]
            while wishes.standing < 1000:
                await asyncio.sleep(0)
            assert threading.active_count() <= threads + 2
            wishes.close()
            return await asyncio.gather(*asking)

    assert asyncio.run(ask_all()) == [[]] * 1000


class Standing(httpx.ASGITransport):
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
