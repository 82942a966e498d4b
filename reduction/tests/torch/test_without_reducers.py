"""The same program where there are no reducers, and where only some workers know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses
    from reduction.tests.torch.ranks import Ranks

WAYS = [{"backend": "gloo", "hook": True}, {"backend": "footplate", "hook": False}]


@pytest.mark.parametrize("way", WAYS, ids=["hook", "backend"])
def test_pytorch_does_it_and_rank_0_says_so(ranks: Ranks, way: dict[str, object]) -> None:
    values = ranks.values("warn", 2, **way)
    assert values[0]["digest"] == values[1]["digest"]
    assert [value["offloaded"] for value in values] == [0, 0]
    assert len(values[0]["warnings"]) == 1
    assert "footplate-reduction reducer" in values[0]["warnings"][0]
    assert values[1]["warnings"] == []


@pytest.mark.parametrize("way", WAYS, ids=["hook", "backend"])
def test_one_worker_alone_needs_none(
    ranks: Ranks, reducers: ReducerProcesses, way: dict[str, object]
) -> None:
    (value,) = ranks.values("warn", 1, reducers.start(1), **way)
    assert value["warnings"] == []
    assert value["offloaded"] == 0


@pytest.mark.parametrize("way", WAYS, ids=["hook", "backend"])
def test_all_hear_who_is_told_other_things(
    ranks: Ranks, reducers: ReducerProcesses, way: dict[str, object]
) -> None:
    values = ranks.values("disagree", 3, reducers.start(1), only_for=[0, 1], **way)
    for value in values:
        assert "rank 0 has '127.0.0.1:" in value["error"]
        assert "rank 2 has none" in value["error"]
