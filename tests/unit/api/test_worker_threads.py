"""Calls that may block, made from a loop that mayn't."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from footplate.api.worker_threads import MOST, in_thread
from tests.support.deadlines import EVENT_S

_CALLER: ContextVar[str] = ContextVar("caller")


def test_what_is_called_runs_elsewhere_and_its_result_comes_back() -> None:
    def work(first: int, *, second: int) -> tuple[int, int]:
        return first + second, threading.get_ident()

    result, thread = asyncio.run(in_thread(work, 1, second=2))

    assert result == 3
    assert thread != threading.get_ident()


def test_what_it_raises_comes_back_as_well() -> None:
    def work() -> None:
        raise KeyError("it")

    with pytest.raises(KeyError, match="it"):
        asyncio.run(in_thread(work))


def test_it_sees_the_context_of_whoever_calls() -> None:
    async def call() -> str:
        _CALLER.set("the client")
        return await in_thread(_CALLER.get)

    assert asyncio.run(call()) == "the client"


def test_the_loop_goes_on_while_all_threads_but_one_are_busy() -> None:
    async def call() -> list[int]:
        everybody = threading.Barrier(MOST)
        return await asyncio.gather(*(in_thread(everybody.wait) for _ in range(MOST)))

    assert sorted(asyncio.run(call())) == list(range(MOST))


@pytest.mark.parametrize("fails", [False, True])
def test_whoever_is_cancelled_waits_for_the_end_of_what_was_begun(fails: bool) -> None:  # noqa: FBT001
    begun, go_on = threading.Event(), threading.Event()
    ended: list[bool] = []

    def work() -> None:
        begun.set()
        go_on.wait()
        ended.append(True)
        if fails:
            raise KeyError("nobody hears of it")

    async def call() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended

    asyncio.run(call())


ENDLESS = """
import asyncio, threading
from footplate.api.worker_threads import in_thread

async def call():
    begun = threading.Event()
    asyncio.ensure_future(in_thread(lambda: (begun.set(), threading.Event().wait())))
    await asyncio.to_thread(begun.wait)

asyncio.new_event_loop().run_until_complete(call())
"""


def test_a_call_that_never_ends_keeps_no_process_from_its_end() -> None:
    """A folder on a network's disk that is away holds up the calls, and not the server's end."""
    subprocess.run([sys.executable, "-c", ENDLESS], check=True, timeout=EVENT_S)
