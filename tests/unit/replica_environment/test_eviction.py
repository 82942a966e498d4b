"""What goes when room is wanted: values in, values out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate.replica.environment.eviction import Entry, EvictionPolicy, choose

NOW = 1_000_000.0
DAY_S = 86400.0


def entry(name: str, size: int = 1, days: float = 0, **facts: bool) -> Entry:
    """Used so many days ago."""
    kind = "layers" if name.startswith("layer") else "runtimes"
    return Entry(kind, name, size, NOW - days * DAY_S, **facts)


def names(entries: list[Entry]) -> list[str]:
    return [found.key for found in entries]


def test_without_a_control_request_only_what_is_useless_goes() -> None:
    held = [entry("a", days=900), entry("half", useless=True), entry("b")]
    assert names(choose(held, EvictionPolicy(), NOW)) == ["half"]


def test_what_was_unused_for_so_long() -> None:
    held = [entry("young", days=1), entry("month", days=30), entry("year", days=365)]
    assert names(choose(held, EvictionPolicy(unused_for_s=30 * DAY_S), NOW)) == ["year", "month"]


def test_as_much_as_it_takes_and_no_more() -> None:
    held = [entry("new", 4, 1), entry("old", 4, 9), entry("older", 4, 10), entry("mid", 4, 5)]
    assert names(choose(held, EvictionPolicy(below_bytes=8), NOW)) == ["older", "old"]
    assert choose(held, EvictionPolicy(below_bytes=16), NOW) == []


def test_what_is_in_use_stays_and_counts() -> None:
    held = [entry("busy", 10, 50, in_use=True), entry("idle", 2, 1)]
    assert names(choose(held, EvictionPolicy(below_bytes=5), NOW)) == ["idle"]
    assert names(choose(held, EvictionPolicy(everything=True), NOW)) == ["idle"]


def test_what_is_kept_goes_only_with_everything() -> None:
    held = [entry("kept", 10, 50, kept=True), entry("idle", 2, 1)]
    assert names(choose(held, EvictionPolicy(below_bytes=1, unused_for_s=1), NOW)) == ["idle"]
    assert names(choose(held, EvictionPolicy(everything=True), NOW)) == ["kept", "idle"]


def test_a_half_built_one_makes_room_for_others() -> None:
    held = [entry("old", 5, 90), entry("half", 5, 0, useless=True)]
    assert names(choose(held, EvictionPolicy(below_bytes=5), NOW)) == ["half"]


def test_layers_go_before_the_runtime_that_was_used_with_them() -> None:
    held = [entry("base", 5, 3), entry("layer", 1, 3)]
    assert names(choose(held, EvictionPolicy(below_bytes=5), NOW)) == ["layer"]


entries = st.lists(
    st.builds(
        Entry,
        st.sampled_from(("runtimes", "layers")),
        st.text("0123456789abcdef", min_size=4, max_size=4),
        st.integers(0, 100),
        st.floats(0, NOW),
        in_use=st.booleans(),
        kept=st.booleans(),
        useless=st.booleans(),
    )
)
control_requests = st.builds(
    EvictionPolicy,
    unused_for_s=st.none() | st.floats(0, NOW),
    below_bytes=st.none() | st.integers(0, 1000),
    everything=st.booleans(),
)


@given(entries, control_requests)
def test_rules_of_every_choice(held: list[Entry], policy: EvictionPolicy) -> None:
    chosen = choose(held, policy, NOW)
    assert not any(found.in_use for found in chosen)
    if not policy.everything:
        assert not any(found.kept and not found.useless for found in chosen)
    left = [found for found in held if not any(found is gone for gone in chosen)]
    assert len(chosen) + len(left) == len(held)
    free = [found for found in left if not found.in_use]
    if not policy.everything:
        free = [found for found in free if found.useless or not found.kept]
    assert not any(found.useless for found in free)
    if policy.below_bytes is not None and free:
        assert sum(found.size_bytes for found in left) <= policy.below_bytes
    if policy.unused_for_s is not None:
        assert all(NOW - found.used_at < policy.unused_for_s for found in free)
    if policy.everything:
        assert not free


@given(entries, st.integers(0, 1000))
def test_nothing_goes_needlessly(held: list[Entry], below_bytes: int) -> None:
    """Without the last one removed there would be too much; what stays was used later."""
    chosen = choose(held, EvictionPolicy(below_bytes=below_bytes), NOW)
    useful = [found for found in chosen if not found.useless]
    left = sum(e.size_bytes for e in held) - sum(e.size_bytes for e in chosen)
    if useful:
        assert left + useful[-1].size_bytes > below_bytes
    free = [e for e in held if not e.in_use and not e.kept]
    stays = [e for e in free if not any(e is gone for gone in chosen)]
    assert all(gone.used_at <= e.used_at for gone in useful for e in stays)
