"""DistributedDataParallel with the hook, and with the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses
    from reduction.tests.torch.ranks import Ranks

WAYS: dict[str, dict[str, Any]] = {
    "hook": {"backend": "gloo", "hook": True},
    "backend": {"backend": "footplate"},
    "both": {"backend": "footplate", "hook": True},
}


def test_it_learns_and_its_bits_are_the_same_in_each_run_for_any_reducers(
    ranks: Ranks, reducers: ReducerProcesses
) -> None:
    both = reducers.start(2)
    first = one_of(ranks.values("train", 3, both, **WAYS["hook"]))
    assert first["losses"][-1] < first["losses"][0] / 5
    buckets, steps = 2, 20  # in the first step PyTorch has but one
    assert first["offloaded"] == 1 + buckets * (steps - 1)

    others = [
        ranks.values("train", 3, both, **WAYS["hook"]),
        ranks.values("train", 3, both[:1], **WAYS["hook"]),
        ranks.values("train", 3, both, **WAYS["both"], bucket_cap_mb=25),
    ]
    for values in others:
        assert one_of(values)["digest"] == first["digest"]
        assert values[0]["offloaded"] >= steps


def test_so_are_those_by_the_backend(ranks: Ranks, reducers: ReducerProcesses) -> None:
    """Not those by the hook: PyTorch divides before it gives gradients to a backend."""
    both = reducers.start(2)
    first = one_of(ranks.values("train", 3, both, **WAYS["backend"]))
    assert first["offloaded"] >= 20
    again = one_of(ranks.values("train", 3, both[1:], **WAYS["backend"], bucket_cap_mb=25))
    assert again["digest"] == first["digest"]


def test_it_is_what_gloo_learns_but_for_rounding(ranks: Ranks, reducers: ReducerProcesses) -> None:
    by_gloo = one_of(ranks.values("train", 4, backend="gloo"))
    assert by_gloo["offloaded"] == 0
    by_reducers = one_of(ranks.values("train", 4, reducers.start(2), backend="footplate"))
    assert difference(by_gloo, by_reducers) < 1e-5
    assert by_reducers["losses"] == pytest.approx(by_gloo["losses"], abs=1e-4)


@pytest.mark.parametrize("way", ["hook", "backend"])
def test_a_wire_of_bfloat16_is_chosen_and_costs_what_it_costs(
    ranks: Ranks, reducers: ReducerProcesses, way: str
) -> None:
    running = reducers.start(2)
    exact = one_of(ranks.values("train", 3, running, **WAYS[way]))
    options: dict[str, Any] = {"wire": "bfloat16"} if way == "hook" else {}
    named = {} if way == "hook" else {"FOOTPLATE_REDUCTION_WIRE": "bfloat16"}
    lossy = one_of(ranks.values("train", 3, running, environment=named, **WAYS[way], **options))
    assert 1e-6 < difference(exact, lossy) < 0.1
    assert lossy["losses"][-1] < lossy["losses"][0] / 5


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_models_of_other_types(ranks: Ranks, reducers: ReducerProcesses, dtype: str) -> None:
    value = one_of(ranks.values("train", 3, reducers.start(1), **WAYS["hook"], dtype=dtype))
    assert value["losses"][-1] < value["losses"][0] / 2
    assert value["offloaded"] > 0


@pytest.mark.parametrize("way", ["hook", "backend"])
def test_unused_parameters(ranks: Ranks, reducers: ReducerProcesses, way: str) -> None:
    options = {"hook": False, **WAYS[way]}
    values = ranks.values("unused_parameters", 2, reducers.start(1), **options)
    assert [value["gradients"] for value in values] == [[[1.0] * 3, [1.0]] * 2] * 2
    assert values[0]["offloaded"] > 0


def test_no_sync_and_a_second_model(ranks: Ranks, reducers: ReducerProcesses) -> None:
    values = ranks.values("accumulate", 3, reducers.start(2))
    assert [value["silent"] for value in values] == [0] * 3
    assert values[0]["gradients"] == values[1]["gradients"] == values[2]["gradients"]
    assert values[0]["offloaded"] > 4


def one_of(values: list[Any]) -> Any:
    """That of rank 0, whose weights all ranks have, in each bit; losses are each rank's own."""
    assert len({value["digest"] for value in values}) == 1
    return values[0]


def difference(one: Any, other: Any) -> float:
    pairs = zip(one["weights"], other["weights"], strict=True)
    return max(abs(float(a) - float(b)) for a, b in pairs)
