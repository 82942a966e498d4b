"""Which buffers are given out again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate_reduction.torch.pinned_memory import PinnedPool


class Copy:
    """An event of a copy that has come when the test says so."""

    def __init__(self, *, come: bool) -> None:
        self.come = come

    def query(self) -> bool:
        return self.come


def test_a_buffer_is_used_again_once_its_copy_has_come() -> None:
    pool = PinnedPool(bytearray)
    first = pool.take(5000)
    copy = Copy(come=False)
    pool.give(first, 5000, copy)
    second = pool.take(5000)
    assert second is not first
    copy.come = True
    assert pool.take(6000) is first
    assert pool.take(6000) is not first


@given(st.lists(st.tuples(st.integers(1, 1 << 20), st.booleans()), max_size=40))
def test_no_buffer_is_out_twice_and_each_is_large_enough(
    takes: list[tuple[int, bool]],
) -> None:
    pool = PinnedPool(bytearray)
    out: list[bytearray] = []
    for nbytes, back in takes:
        buffer = pool.take(nbytes)
        assert len(buffer) >= nbytes
        assert not any(buffer is other for other in out)
        if back:
            pool.give(buffer, nbytes, Copy(come=True))
        else:
            out.append(buffer)


def test_sizes_of_one_power_of_two_share_buffers() -> None:
    pool = PinnedPool(bytearray)
    buffers = []
    for nbytes in (1, 4000, 4096, 70_000, 100_000):
        buffers.append(pool.take(nbytes))
        pool.give(buffers[-1], nbytes, Copy(come=True))
    assert len({id(buffer) for buffer in buffers}) == 2
    assert [len(buffer) for buffer in buffers] == [4096] * 3 + [131_072] * 2
