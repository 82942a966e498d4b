"""The backend, called as torch.distributed calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses
    from reduction.tests.torch.ranks import Ranks


def test_sums_and_averages_have_the_bits_of_torchs_own_in_the_order_of_ranks(
    ranks: Ranks, reducers: ReducerProcesses
) -> None:
    for value in ranks.values("sums", 4, reducers.start(2)):
        assert value == {"wrong": [], "offloaded": 4 * 4 * 2}


def test_tensors_of_any_layout_are_changed_where_they_are(
    ranks: Ranks, reducers: ReducerProcesses
) -> None:
    grid = [[float(4 * row + column) for column in range(4)] for row in range(3)]
    for rank, value in enumerate(ranks.values("shapes", 2, reducers.start(1))):
        mine = [[(rank + 1) * cell for cell in row] for row in grid]
        added = [[cells[0], 3 * grid[row][1], *cells[2:]] for row, cells in enumerate(mine)]
        assert value == {
            "grid": [[3 * cell for cell in row] for row in grid],
            "column": added,
            "scalar": 4.5,
            "complex": [3, 6],
            "returned": [True, True],
            "done": [[True, True]] * 2,
            "then": [4, 4],
            "ways": [1, 0.5, 1],
            "offloaded": 7,
        }


def test_small_tensors_of_a_batch_are_one_vector_for_each_type(
    ranks: Ranks, reducers: ReducerProcesses
) -> None:
    for value in ranks.values("batches", 2, reducers.start(2)):
        assert value["firsts"] == [*(2 * size + 1 for size in range(1, 40)), 1.0]
        assert value["even"]
        assert value["offloaded"] == 2


def test_what_reducers_do_not_do_is_done_by_gloo(ranks: Ranks, reducers: ReducerProcesses) -> None:
    values = ranks.values("other_collectives", 3, reducers.start(1))
    for rank, value in enumerate(values):
        assert value == {
            "whole": 6,
            "most": 2,
            "product": 6,
            "broadcast": 1,
            "gathered": [0, 1, 2],
            "scattered": 3 * rank,
            "swapped": [10 * rank, 10 * rank + 1, 10 * rank + 2],
            "reduced": 3 if rank == 0 else value["reduced"],
            "objects": [{"rank": 0}, {"rank": 1}, {"rank": 2}],
            "listed": ["of 2"],
            "passed": 0 if rank == 1 else rank,
            "offloaded": 0,
        }


def test_each_group_reduces_among_its_own_members(ranks: Ranks, reducers: ReducerProcesses) -> None:
    values = ranks.values("groups", 3, reducers.start(2))
    assert [value["seen"] for value in values] == [[11], [11, 110], [110, 100]]
    assert [value["before"] for value in values] == [1, 2, 1]  # one alone needs no reducer
    assert {(value["after"], value["name"]) for value in values} == {(3, "footplate")}
    assert [value["offloaded"] for value in values] == [2, 3, 2]


def test_functional_collectives(ranks: Ranks, reducers: ReducerProcesses) -> None:
    for value in ranks.values("from_functions", 2, reducers.start(1)):
        assert value == {"sum": [2, 2, 2], "offloaded": 1}
