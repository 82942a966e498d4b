"""What a server answers that doesn't lead."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from footplate.api.leader_only import LeaderOnly

STACKS = "/footplate/v1/projects/demo/jobs/a:stacks"
SHELL = "/shell/v1/token"
LEADER = "http://127.0.0.1:8470"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


async def here(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("here")(scope, receive, send)


def ask(
    path: str, url: str | None = None, *, leads: bool = False, scheme: str = "http", query: str = ""
) -> Answer:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {}

    scope: dict[str, Any] = {
        "type": "websocket" if scheme == "ws" else "http",
        "scheme": scheme,
        "server": ("127.0.0.1", 8471),
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"host", b"training.example:8471")],
        "extensions": {"websocket.http.response": {}},
    }
    app = LeaderOnly(here, lambda: leads, lambda: url)
    asyncio.run(app(scope, receive, send))
    start, body = sent[0], sent[1]
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers, body["body"])


@pytest.mark.parametrize("path", ["/replica/v1/task", STACKS, SHELL, "/healthz"])
def test_the_leader_answers_everything(path: str) -> None:
    assert ask(path, leads=True).body == b"here"


OBJECT = "/storage/v1/b/stage/o/a:stacks"


@pytest.mark.parametrize(
    "path", ["/healthz", "/v1/projects/demo/jobs", "/footplate/v1/status", OBJECT]
)
def test_the_others_answer_what_needs_no_leader(path: str) -> None:
    assert ask(path).body == b"here"


@pytest.mark.parametrize("url", [None, LEADER])
def test_supervisors_are_told_to_look_for_the_leader(url: str | None) -> None:
    answer = ask("/replica/v1/reports", url)
    error = json.loads(answer.body)["error"]
    assert (answer.status, error["status"]) == (503, "UNAVAILABLE")
    assert answer.headers["connection"] == "close"
    assert "leads this service" in error["message"]


@pytest.mark.parametrize("path", [STACKS, SHELL, "/terminal/token"])
def test_users_are_sent_to_the_leader_at_the_host_that_they_know(path: str) -> None:
    answer = ask(path, LEADER, query="a=b")
    assert answer.status == 307
    assert answer.headers["location"] == f"http://training.example:8470{path}?a=b"


def test_users_are_told_that_nobody_leads() -> None:
    answer = ask(STACKS)
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")


def test_so_are_those_who_come_with_a_websocket() -> None:
    answer = ask(SHELL, LEADER, scheme="ws")
    assert answer.status == 307
    assert answer.headers["location"] == "ws://training.example:8470/shell/v1/token"
    assert ask(SHELL, scheme="ws").status == 503
