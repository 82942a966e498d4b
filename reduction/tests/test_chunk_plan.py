from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate_reduction.chunk_plan import ALIGNMENT, MIN_CREDIT, Plan, credit_bytes, plan
from footplate_reduction.frames import LONGEST_CHUNK, WINDOW
from footplate_reduction.limits import Limits

sizes = st.integers(0, 1 << 22) | st.integers(0, 1 << 10) | st.integers(1 << 30, 1 << 33)
endpoints = st.integers(1, 64)
worlds = st.integers(1, 4096)
seqs = st.integers(0, (1 << 32) - 1)
limits = st.builds(
    Limits,
    budget_bytes=st.integers(1, 1 << 30) | st.just(1 << 20),
    chunk_bytes=st.just(0) | st.integers(1, 1 << 24),
)


@given(sizes, seqs, endpoints, worlds, limits)
def test_shards_cover_the_vector_exactly_once_and_in_order(
    nbytes: int, seq: int, count: int, world: int, given_limits: Limits
) -> None:
    shards = plan(nbytes, seq, count, world, given_limits).shards
    assert len(shards) == count
    taken = [(begin, end) for begin, end in shards if begin < end]
    assert [begin for begin, _ in taken] == [0, *(end for _, end in taken)][: len(taken)]
    assert (taken[-1][1] if taken else 0) == nbytes
    assert all(begin % ALIGNMENT == 0 for begin, _ in taken)


@given(st.integers(0, 1 << 20), seqs, endpoints, worlds, limits)
def test_chunks_cover_their_shard_and_none_is_larger_than_allowed(
    nbytes: int, seq: int, count: int, world: int, given_limits: Limits
) -> None:
    made = plan(nbytes, seq, count, world, given_limits)
    assert (
        ALIGNMENT
        <= made.chunk_bytes
        <= min(LONGEST_CHUNK, credit_bytes(given_limits, world, count))
    )
    for endpoint, (begin, end) in enumerate(made.shards):
        at = begin
        for offset, size in made.chunks(endpoint):
            assert offset == at
            assert 0 < size <= made.chunk_bytes
            assert size == made.chunk_bytes or offset + size == end
            at += size
        assert at == end


@given(sizes, seqs, endpoints, worlds, limits)
def test_no_endpoint_has_much_more_to_do_than_another(
    nbytes: int, seq: int, count: int, world: int, given_limits: Limits
) -> None:
    made = plan(nbytes, seq, count, world, given_limits)
    if nbytes > made.chunk_bytes:
        loads = [end - begin for begin, end in made.shards]
        assert max(loads) - min(loads) <= 2 * ALIGNMENT


@given(endpoints, worlds, limits)
def test_all_workers_together_stay_within_the_budget_of_a_port(
    count: int, world: int, given_limits: Limits
) -> None:
    credit = credit_bytes(given_limits, world, count)
    assert MIN_CREDIT <= credit <= WINDOW
    if credit > MIN_CREDIT:
        assert credit * world <= given_limits.budget_bytes
        assert credit * count <= given_limits.budget_bytes


def test_small_vectors_take_endpoints_in_turn() -> None:
    def owner(made: Plan) -> int:
        return [end for _, end in made.shards].index(100)

    owners = [owner(plan(100, seq, 3, 4, Limits())) for seq in range(7)]
    assert owners == [0, 1, 2, 0, 1, 2, 0]


def test_a_connection_has_three_chunks_under_way_where_the_vector_is_large() -> None:
    limits = Limits()
    made = plan(64 << 20, 0, 8, 8, limits)
    assert credit_bytes(limits, 8, 8) == 128 << 10
    assert made.chunk_bytes == (128 << 10) // 3 // ALIGNMENT * ALIGNMENT


def test_a_shard_has_sixteen_chunks_where_the_vector_is_smaller() -> None:
    made = plan(1 << 20, 0, 8, 8, Limits())
    assert made.chunk_bytes == 8 << 10
