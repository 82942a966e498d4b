"""The stretches of time that a session asks for, and how it ends."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from footplate.domain.errors import OutOfRange, ResourceExhausted
from footplate.grpc_api import tailing
from footplate.grpc_api.tailing import MAX_TAILS, Tails, tail_entries
from footplate.grpc_api.transcoding import HttpRequest

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Service:
    """Has two pages of entries in each stretch; its clock goes on by a second at each look."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self._time = START

    def now(self) -> datetime:
        self._time += timedelta(seconds=1)
        return self._time

    async def ask(self, request: HttpRequest) -> bytes:
        body = json.loads(request.body or b"")
        self.asked.append(body)
        if "pageToken" in body:
            return b"{}"
        return b'{"entries": [{"insertId": "1"}], "nextPageToken": "next"}'


def follow(service: Service, count: int, **asked: Any) -> list[bytes]:
    async def read() -> list[bytes]:
        found = []
        async for answer in tail_entries(asked, service.ask, Tails(), service.now):
            found.append(answer)
            if len(found) == count:
                break
        return found

    return asyncio.run(read())


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tailing, "INTERVAL_S", 0.0)


def test_stretches_follow_each_other_without_a_gap() -> None:
    service = Service()
    names = ["projects/demo"]
    found = follow(service, 3, resourceNames=names, filter="a OR b", bufferWindow="0.5s")
    assert found == [b'{"entries": [{"insertId": "1"}]}'] * 3
    queries = [body["filter"] for body in service.asked if "pageToken" not in body]
    times = [query.partition(" AND (")[0].split('"')[1::2] for query in queries]
    assert all(query.endswith(" AND (a OR b)") for query in queries)
    assert times[0][0] == "2026-01-02T03:04:06.000000Z"
    assert [until for _, until in times[:-1]] == [since for since, _ in times[1:]]
    assert times[0][1].endswith(":07.500000Z")
    assert {tuple(body["resourceNames"]) for body in service.asked} == {("projects/demo",)}


def test_a_session_without_a_filter_leaves_the_last_two_seconds_out() -> None:
    service = Service()
    follow(service, 1)
    (first, *_) = service.asked
    assert first["filter"].count("AND") == 1
    assert not first["filter"].endswith(")")


def test_a_session_ends_after_an_hour() -> None:
    with pytest.raises(OutOfRange, match="for at most an hour"):
        follow(Service(), 100_000)


def test_there_are_only_so_many_sessions() -> None:
    async def begin() -> None:
        tails = Tails(MAX_TAILS - 1)
        service = Service()
        session = tail_entries({}, service.ask, tails, service.now)
        await anext(session)
        with pytest.raises(ResourceExhausted, match="100 sessions"):
            await anext(tail_entries({}, service.ask, tails, service.now))
        await session.aclose()  # type: ignore[attr-defined]  # it is a generator
        assert tails.count == MAX_TAILS - 1

    asyncio.run(begin())
