"""The feed of changes."""

from __future__ import annotations

import asyncio
import threading

from footplate.console.feed import Feed


def test_each_page_is_told_at_once_and_of_each_change() -> None:
    async def read() -> list[bytes]:
        feed = Feed(least_s=0.0, least_s_of_each=0.0)
        pages = [feed.events() for _ in range(3)]
        found = [await anext(page) for page in pages]
        found += [await anext(page) for page in pages]
        waiting = [asyncio.ensure_future(anext(page)) for page in pages]
        await asyncio.sleep(0.05)
        thread = threading.Thread(target=feed.changed)
        thread.start()
        found += await asyncio.wait_for(asyncio.gather(*waiting), 60)
        thread.join()
        for page in pages:
            await page.aclose()
        return found

    found = asyncio.run(read())
    assert found[0].startswith(b"retry:")
    assert found[3] == b"event: change\ndata: 0\n\n"
    assert found[6:] == [b"event: change\ndata: 1\n\n"] * 3


def test_a_change_before_a_page_waits_is_not_lost() -> None:
    async def read() -> bytes:
        feed = Feed(least_s=0.0, least_s_of_each=0.0)
        page = feed.events()
        await anext(page)
        await anext(page)
        feed.changed()
        found = await asyncio.wait_for(anext(page), 60)
        await page.aclose()
        return found

    assert asyncio.run(read()) == b"event: change\ndata: 1\n\n"


def test_many_changes_are_one_event() -> None:
    async def read() -> bytes:
        feed = Feed(least_s=0.01, least_s_of_each=0.0)
        page = feed.events()
        await anext(page)
        await anext(page)
        for _ in range(100):
            feed.changed()
        found = await asyncio.wait_for(anext(page), 60)
        await page.aclose()
        return found

    assert asyncio.run(read()) == b"event: change\ndata: 100\n\n"


def test_many_pages_are_told_less_often() -> None:
    async def read() -> float:
        feed = Feed(least_s=0.0, least_s_of_each=0.1)
        pages = [feed.events() for _ in range(5)]
        for page in (*pages, *pages):
            await anext(page)
        begin = asyncio.get_running_loop().time()
        for _ in range(2):
            feed.changed()
            await asyncio.gather(*(anext(page) for page in pages))
        took = asyncio.get_running_loop().time() - begin
        for page in pages:
            await page.aclose()
        return took

    assert asyncio.run(read()) >= 0.49
