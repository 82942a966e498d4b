"""Requests for Google's hosts, as the app gets them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from footplate.api.security import SERVED_HOST
from footplate.proxy.hosts import ServedHost, find_host
from footplate.proxy.served_requests import ServedRequests

HEADERS = [(b"host", b"x"), (b"authorization", b"Bearer made-up"), (b"proxy-connection", b"y")]


def pass_on(
    host: str,
    path: str,
    query: bytes = b"",
    method: str = "GET",
    authorization: str | None = None,
    *,
    once: bool = False,
    key: str | None = None,
) -> tuple[dict[str, Any], list[Message]]:
    """What the app gets, and what the client gets."""
    seen: dict[str, Any] = {}
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.update(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})
        await send({"type": "http.response.body"})

    async def receive() -> Message:
        raise AssertionError("not asked for")

    async def send(message: Message) -> None:
        sent.append(message)

    served = find_host(host)
    assert served is not None
    raw, _, _ = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": raw.replace("%2F", "/").replace("%20", " "),
        "raw_path": raw.encode(),
        "query_string": query,
        "headers": HEADERS,
    }
    wrapped = ServedRequests(app, served, authorization, once=once, key=key)
    asyncio.run(wrapped(scope, receive, send))
    return seen, sent


def test_the_host_is_named_and_the_path_stays() -> None:
    scope, sent = pass_on("ml.googleapis.com", "/v1/projects/p/jobs", b"a=b")
    assert scope[SERVED_HOST] == "ml.googleapis.com"
    assert (scope["path"], scope["query_string"]) == ("/v1/projects/p/jobs", b"a=b")
    assert scope["headers"] == HEADERS[:2]
    assert sent[0]["headers"] == [(b"a", b"b")]


def test_the_token_replaces_made_up_ones() -> None:
    scope, _ = pass_on("ml.googleapis.com", "/v1/x", authorization="Bearer s3cret")
    assert scope["headers"] == [(b"host", b"x"), (b"authorization", b"Bearer s3cret")]


def test_a_connection_without_a_tunnel_ends_with_its_answer() -> None:
    _, sent = pass_on("ml.googleapis.com", "/v1/x", once=True)
    assert sent[0]["headers"] == [(b"a", b"b"), (b"connection", b"close")]


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("accounts.google.com", "/o/oauth2/token"),
        ("www.googleapis.com", "/oauth2/v4/token"),
        ("oauth2.googleapis.com", "/token"),
    ],
)
def test_tokens_come_from_one_path(host: str, path: str) -> None:
    scope, _ = pass_on(host, path, method="POST")
    assert (scope["path"], scope["raw_path"]) == ("/token", b"/token")


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("storage.googleapis.com", "/bucket/a/b%20c"),
        ("storage.googleapis.com", "/bucket/a%2Fb%20c"),
        ("bucket.storage.googleapis.com", "/a/b%20c"),
    ],
)
def test_objects_by_their_path(host: str, path: str) -> None:
    scope, _ = pass_on(host, path, b"x=y")
    assert scope["raw_path"] == b"/download/storage/v1/b/bucket/o/a%2Fb%20c"
    assert scope["path"] == "/download/storage/v1/b/bucket/o/a/b c"
    assert scope["query_string"] == b"alt=media&x=y"


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/storage/v1/b/bucket/o/x", "GET"),
        ("/upload/storage/v1/b/bucket/o", "POST"),
        ("/$discovery/rest", "GET"),
        ("/bucket", "GET"),
        ("/bucket/", "GET"),
        ("/bucket/x", "PUT"),
        ("/bucket/%ff", "GET"),
        ("/", "GET"),
    ],
)
def test_what_is_no_object_stays(path: str, method: str) -> None:
    scope, _ = pass_on("storage.googleapis.com", path, method=method)
    assert scope["raw_path"] == path.encode()


@pytest.mark.parametrize("path", ["/discovery/v1/apis/ml/v1/rest", "/$discovery/rest"])
def test_programs_get_discovery_documents_without_their_key(path: str) -> None:
    """They say what can be called, and nothing of what is here."""
    scope, _ = pass_on("ml.googleapis.com", path, key="KEY")
    assert scope["path"] == path


def test_other_hosts_have_no_objects() -> None:
    assert not ServedHost("www.googleapis.com").is_storage
    scope, _ = pass_on("www.googleapis.com", "/bucket/x")
    assert scope["path"] == "/bucket/x"


def test_headers_of_uploads_keep_googles_spelling() -> None:
    """uvicorn writes what ``lower`` returns."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"location", b"x"), (b"range", b"y"), (b"etag", b"z")]
        await send({"type": "http.response.start", "status": 308, "headers": headers})

    async def receive() -> Message:
        raise AssertionError("not asked for")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    wrapped = ServedRequests(app, ServedHost("www.googleapis.com"), None, once=False)
    scope = {"type": "http", "path": "/upload/x", "headers": [], "method": "PUT"}
    asyncio.run(wrapped(scope, receive, send))
    assert [name.lower() for name, _ in sent[0]["headers"]] == [b"Location", b"Range", b"etag"]


@pytest.mark.parametrize(
    ("host", "path", "led"),
    [
        ("www.googleapis.com", "/storage/v1/b/x", "/programs/KEY/storage/v1/b/x"),
        ("www.googleapis.com", "/v1/projects/p/jobs", "/programs/KEY/v1/projects/p/jobs"),
        ("www.googleapis.com", "/oauth2/v4/token", "/programs/KEY/oauth2/v4/token"),
        ("www.googleapis.com", "/programs/KEY/upload/x", "/programs/KEY/upload/x"),
        ("www.googleapis.com", "/programs/OTHER/b", "/programs/KEY/programs/OTHER/b"),
        ("storage.googleapis.com", "/programs/KEY/download/x", "/programs/KEY/download/x"),
        ("storage.googleapis.com", "/b/a%2Fc", "/programs/KEY/download/storage/v1/b/b/o/a%2Fc"),
    ],
)
def test_a_programs_key_leads_to_its_buckets_and_nowhere_else(
    host: str, path: str, led: str
) -> None:
    scope, _ = pass_on(host, path, key="KEY")
    assert scope["raw_path"] == led.encode()
    assert scope["path"] == led.replace("%2F", "/")


def test_a_product_that_is_not_here_is_refused_as_one_that_is_not_enabled() -> None:
    seen, (start, body) = pass_on("bigquery.googleapis.com", "/bigquery/v2/projects/p/jobs")
    assert seen == {}
    assert start["status"] == 403
    error = json.loads(body["body"])["error"]
    assert error["status"] == "PERMISSION_DENIED"
    assert error["message"].startswith("Footplate has no BigQuery (bigquery.googleapis.com). ")
