"""What tabs share that read the same again after a change."""

from __future__ import annotations

import asyncio

import pytest

from footplate.console import site
from footplate.console.site import SharedAnswers


class _Reader:
    def __init__(self) -> None:
        self.reads = 0

    async def read(self) -> int:
        self.reads += 1
        await asyncio.sleep(0)
        return self.reads


def test_who_asks_at_once_gets_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "LONGEST_SHARED_S", 3600.0)

    async def ask() -> list[int]:
        shared, reader = SharedAnswers(), _Reader()
        return list(await asyncio.gather(*(shared.get("a", 1, reader.read) for _ in range(5))))

    assert asyncio.run(ask()) == [1] * 5


def test_after_a_change_and_for_another_reader_it_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site, "LONGEST_SHARED_S", 3600.0)

    async def ask() -> list[int]:
        shared, reader = SharedAnswers(), _Reader()
        asked = [("a", 1), ("a", 1), ("a", 2), ("b", 2), ("a", 2), ("a", 3)]
        return [await shared.get(key, changes, reader.read) for key, changes in asked]

    assert asyncio.run(ask()) == [1, 1, 2, 3, 2, 4]


def test_it_is_read_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "LONGEST_SHARED_S", -1.0)

    async def ask() -> list[int]:
        shared, reader = SharedAnswers(), _Reader()
        return [await shared.get("a", 1, reader.read) for _ in range(2)]

    assert asyncio.run(ask()) == [1, 2]


def test_an_error_is_for_those_who_wait() -> None:
    async def fail() -> int:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def ask() -> int:
        shared, reader = SharedAnswers(), _Reader()
        waiting = [shared.get("a", 1, fail) for _ in range(2)]
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(error) for error in found] == [ValueError] * 2
        return await shared.get("a", 1, reader.read)

    assert asyncio.run(ask()) == 1


def test_a_reader_who_leaves_takes_it_from_nobody() -> None:
    async def ask() -> int:
        shared, reader = SharedAnswers(), _Reader()
        first = asyncio.ensure_future(shared.get("a", 1, reader.read))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(shared.get("a", 1, reader.read))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(ask()) == 1
