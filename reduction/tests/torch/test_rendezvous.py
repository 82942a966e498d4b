"""What workers agree on before they connect."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from footplate_reduction.errors import ReductionError
from footplate_reduction.torch.rendezvous import WorkerInfo, agree, look, meet

LONG_S = 30.0


class Store:
    """As torch.distributed's: ``get`` waits for what is set."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._values: dict[str, str] = {}
        self._changed = threading.Condition()

    def set(self, name: str, value: str) -> None:
        with self._changed:
            self._values[name] = value
            self._changed.notify_all()

    def get(self, name: str) -> bytes:
        with self._changed:
            assert self._changed.wait_for(lambda: name in self._values, LONG_S)
            self.asked.append(name)
            return self._values[name].encode()


def test_all_take_the_name_of_rank_0() -> None:
    assert agree([WorkerInfo("a:1,b:1", "x"), WorkerInfo("a:1,b:1", "y")]) == "x"


def test_no_name_where_nobody_has_reducers() -> None:
    assert agree([WorkerInfo("", "x"), WorkerInfo("", "y")]) is None


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (["a:1", "a:1", ""], "rank 0 has 'a:1', rank 2 has none"),
        (["", "a:1"], "rank 0 has none, rank 1 has 'a:1'"),
        (["a:1,b:1", "b:1,a:1"], "rank 0 has 'a:1,b:1', rank 1 has 'b:1,a:1'"),
    ],
)
def test_all_hear_who_has_others(found: list[str], message: str) -> None:
    with pytest.raises(ReductionError, match=message):
        agree([WorkerInfo(reducers, "x") for reducers in found])


def test_no_two_groups_have_one_name() -> None:
    assert len({look("a:1").name for _ in range(100)}) == 100


def test_all_are_told_the_same_and_ask_little() -> None:
    store, world = Store(), 4
    with ThreadPoolExecutor(world) as pool:
        found = list(
            pool.map(lambda rank: meet(store, rank, world, WorkerInfo("a", f"{rank}")), range(4))
        )
    assert found == [[WorkerInfo("a", f"{rank}") for rank in range(world)]] * world
    assert len(store.asked) == 2 * world
