"""Hosts that send a byte now and then: an answer that takes too long as a whole is given up."""

from __future__ import annotations

import http.client
from functools import partial
from urllib.error import URLError
from urllib.request import Request

import pytest
from starlette.applications import Starlette
from starlette.requests import Request as Received
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from footplate.limited_http import Deadline, LimitedResponse, open_url
from tests.support.dripping_server import BODY, HEAD, drip
from tests.support.http_server import serve

LIMIT_S = 0.2
LATE = r"the whole answer took longer than 0\.2 s"


@pytest.mark.parametrize("begin", [b"", HEAD, BODY])
def test_an_answer_that_drips_is_given_up(begin: bytes) -> None:
    with drip(begin) as host, pytest.raises((TimeoutError, URLError), match=LATE):
        open_url(Request(f"http://{host}/"), 60, LIMIT_S).read()


def test_redirections_share_the_time() -> None:
    async def redirect(_: Received) -> Response:
        return RedirectResponse("/")

    with (
        serve(Starlette(routes=[Route("/", redirect)])) as url,
        pytest.raises((TimeoutError, URLError), match="took longer than 1e-09 s"),
    ):
        open_url(Request(url), 60, 1e-9)  # noqa: S310  of loopback


def test_no_redirection_leads_out_of_http() -> None:
    async def redirect(_: Received) -> Response:
        return RedirectResponse("ftp://127.0.0.1:1/")

    with (
        serve(Starlette(routes=[Route("/", redirect)])) as url,
        pytest.raises(URLError, match="unknown url type: ftp"),
    ):
        open_url(Request(url), 60)  # noqa: S310  of loopback


def test_a_connection_serves_one_answer_after_the_other() -> None:
    async def answer(received: Received) -> Response:
        return PlainTextResponse(received.url.path * 100_000)

    with serve(Starlette(routes=[Route("/{name}", answer)])) as url:
        host = url.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.response_class = LimitedResponse
        for path in ("/a", "/b"):
            connection.request("GET", path)
            answered = connection.getresponse()
            assert answered.read().decode() == path * 100_000
            assert not answered.will_close
        connection.close()


def test_bytes_that_come_give_more_time() -> None:
    deadline = Deadline(0.0, rate_bytes_s=1.0)
    with pytest.raises(TimeoutError):
        deadline.cut(None)
    deadline.note(1000)
    assert deadline.cut(5.0) == 5.0
    assert 900 < deadline.cut(None) <= 1000


def test_a_connection_of_which_bytes_come_too_slowly_is_given_up() -> None:
    with drip(BODY) as host:
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.response_class = partial(  # type: ignore[assignment]  # it makes one
            LimitedResponse, deadline=Deadline(LIMIT_S, rate_bytes_s=1000.0)
        )
        connection.request("GET", "/")
        with pytest.raises(TimeoutError, match=LATE):
            connection.getresponse().read()
        connection.close()
