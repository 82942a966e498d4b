from __future__ import annotations

import asyncio

from footplate.api.shell_v1.routes import Window


def test_a_window_that_is_used_up_opens_when_something_is_taken() -> None:
    async def use() -> None:
        window = Window(10)
        await window.take(8)
        await window.take(8)  # open for a part of it
        waiting = asyncio.create_task(window.take(1))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        window.give(5)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        window.give(2)
        await waiting

    asyncio.run(use())


def test_a_replica_that_says_it_took_more_opens_it_no_wider() -> None:
    async def use() -> None:
        window = Window(10)
        window.give(1_000_000)
        await window.take(10)
        waiting = asyncio.create_task(window.take(1))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()

    asyncio.run(use())
