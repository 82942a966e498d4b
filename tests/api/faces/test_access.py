"""Under which names a server may be called, by what it was told and where it listens."""

from __future__ import annotations

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from footplate.api.app import create_app
from footplate.api.security import Access
from tests.support.http_server import serve


async def hello(_request: object) -> PlainTextResponse:
    return PlainTextResponse("hello")


def call(access: Access, host: str) -> int:
    with serve(create_app([Route("/x", hello)], access)) as url:
        return httpx.get(f"{url}/x", headers={"Host": host}).status_code


@pytest.mark.parametrize("host", ["10.1.2.3:8470", "10.1.2.3", "127.0.0.1:8470", "trainer.lan"])
def test_a_server_is_called_by_the_address_that_it_listens_on(host: str) -> None:
    """Else the supervisors, who know no other, couldn't fetch a single task."""
    assert call(Access.at("http://10.1.2.3:8470", None, ("trainer.lan",)), host) == 200


@pytest.mark.parametrize("host", ["10.1.2.4", "fd00::1", "evil.example:8470", "0.0.0.0:8470"])
def test_no_other_name_is_let_in(host: str) -> None:
    assert call(Access.at("http://10.1.2.3:8470", None, ()), host) == 403


def test_an_address_of_version_6() -> None:
    access = Access.at("http://[fd00::1]:8470", None, ())
    assert call(access, "[fd00::1]:8470") == 200
    assert call(access, "[fd00::2]:8470") == 403
