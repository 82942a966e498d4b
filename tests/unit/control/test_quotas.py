from __future__ import annotations

import pytest

from footplate.control.quotas import EffectiveQuotas, LimitInForce, QuotaBook, QuotaInForce, Source
from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.quotas import Quota
from footplate.domain.resources import Amounts
from tests.support.quotas import CATALOGUE, MemoryQuotas

REGION, T4 = "us-central1", "NVIDIA_TESLA_T4"


class Office:
    """A book, with what is beside it."""

    def __init__(self, *configured: Quota) -> None:
        self.store = MemoryQuotas()
        self.held: dict[tuple[str, str], Amounts] = {}
        self.changes = 0
        self.effective = EffectiveQuotas(self.store, configured, CATALOGUE)
        self.book = QuotaBook(self.effective, self._usage, self._changed)

    def _usage(self, project: str, region: str) -> Amounts:
        return self.held.get((project, region), {})

    def _changed(self) -> None:
        self.changes += 1


def test_without_quotas_there_is_no_limit() -> None:
    office = Office()
    book = office.book
    assert book.list() == ()
    assert office.effective.quotas().limits("ads", REGION) == {}
    assert book.get("ads", REGION) == QuotaInForce("ads", REGION, {}, {})


def test_a_stored_limit_beats_one_of_the_settings_for_the_same_resource() -> None:
    office = Office(Quota("ads", REGION, {"vcpus": 64, T4: 4}))
    office.store.change("ads", REGION, {T4: 8})

    assert office.effective.quotas().limits("ads", REGION) == {"vcpus": 64, T4: 8}
    assert office.book.get("ads", REGION).limits == {
        T4: LimitInForce(8, "ads", REGION, Source.STORED),
        "vcpus": LimitInForce(64, "ads", REGION, Source.SETTINGS),
    }


def test_a_more_specific_one_of_the_settings_beats_a_stored_one() -> None:
    office = Office(Quota("ads", REGION, {T4: 4}))
    office.store.change("ads", "*", {T4: 8, "jobs": 1})

    assert office.book.get("ads", REGION).limits == {
        T4: LimitInForce(4, "ads", REGION, Source.SETTINGS),
        "jobs": LimitInForce(1, "ads", "*", Source.STORED),
    }


def test_configured_names_are_taken_in_any_spelling() -> None:
    office = Office(Quota("ads", "-", {"nvidia-tesla-t4": 4}))
    assert list(office.effective.quotas()) == [Quota("ads", "*", {T4: 4})]


def test_everything_wrong_with_configured_quotas_is_said_at_once() -> None:
    with pytest.raises(InvalidArgument) as caught:
        Office(
            Quota("ads", "moon", {"NVIDIA_T4": 4}),
            Quota("a d s", REGION, {"vcpus": -1}),
            Quota("*", "*", {"jobs": 1}),
            Quota("-", "*", {"vcpus": 1}),
        )
    assert [v.field for v in caught.value.violations] == [
        "quotas[0].region",
        "quotas[0].NVIDIA_T4",
        "quotas[1].project",
        "quotas[1].vcpus",
        "quotas[3]",
    ]


def test_a_change_counts_at_once_and_is_told() -> None:
    office = Office()
    answer = office.book.change("ads", REGION, {"nvidia-tesla-t4": 4, "vcpus": 64})

    assert office.changes == 1
    assert office.effective.quotas().limits("ads", REGION) == {T4: 4, "vcpus": 64}
    assert office.store.list() == (Quota("ads", REGION, {T4: 4, "vcpus": 64}),)
    assert answer == office.book.get("ads", REGION)


def test_unset_lets_the_next_one_count_again() -> None:
    office = Office(Quota("ads", REGION, {T4: 4}), Quota("*", "*", {"vcpus": 8}))
    office.book.change("ads", REGION, {T4: 2, "vcpus": 64, "jobs": 1})

    answer = office.book.change("ads", REGION, {T4: None, "vcpus": None})

    assert answer.limits == {
        T4: LimitInForce(4, "ads", REGION, Source.SETTINGS),
        "jobs": LimitInForce(1, "ads", REGION, Source.STORED),
        "vcpus": LimitInForce(8, "*", "*", Source.SETTINGS),
    }


def test_removal_takes_all_that_was_set_there() -> None:
    office = Office(Quota("ads", REGION, {T4: 4}))
    office.book.change("ads", REGION, {T4: 2, "jobs": 1})
    office.book.change("ads", "*", {"vcpus": 9})

    answer = office.book.remove("ads", REGION)

    assert {name: limit.amount for name, limit in answer.limits.items()} == {T4: 4, "vcpus": 9}
    assert office.changes == 3


def test_everything_wrong_with_a_change_is_said_at_once_and_nothing_changes() -> None:
    office = Office()
    with pytest.raises(InvalidArgument) as caught:
        office.book.change("a/b", "moon", {"vcpus": -1, "gpus": 1, "jobs": 1})
    assert [v.field for v in caught.value.violations] == [
        "project",
        "region",
        "limits.gpus",
        "limits.vcpus",
    ]
    assert (office.store.list(), office.changes) == ((), 0)


def test_only_places_that_can_be_are_looked_at() -> None:
    book = Office().book
    for inspect in (book.get, book.remove):
        with pytest.raises(InvalidArgument, match=r"region: 'moon' given"):
            inspect("ads", "moon")


def test_use_is_shown_with_and_without_a_limit() -> None:
    office = Office(Quota("*", "*", {T4: 4, "vcpus": 64}))
    office.held["ads", REGION] = {"jobs": 2, "vcpus": 100, "TPU_V2": 0}

    assert office.book.get("ads", REGION).used == {T4: 0, "jobs": 2, "vcpus": 100}
    assert office.book.get("maps", REGION).used == {T4: 0, "vcpus": 0}


@pytest.mark.parametrize(("project", "region"), [("*", REGION), ("ads", "*"), ("-", "-")])
def test_nothing_is_used_by_each_of_them(project: str, region: str) -> None:
    assert Office().book.get(project, region).used is None


def test_the_list_says_what_is_in_force_for_each_that_is_named() -> None:
    office = Office(Quota("*", "*", {"vcpus": 64}))
    office.book.change("ads", REGION, {"jobs": 1})

    listed = {(q.project, q.region): dict(q.limits) for q in office.book.list()}

    everywhere = LimitInForce(64, "*", "*", Source.SETTINGS)
    assert listed == {
        ("*", "*"): {"vcpus": everywhere},
        ("ads", REGION): {
            "jobs": LimitInForce(1, "ads", REGION, Source.STORED),
            "vcpus": everywhere,
        },
    }


def test_what_another_server_has_set_counts_here() -> None:
    office = Office()
    assert office.effective.quotas().limits("ads", REGION) == {}
    office.store.change("ads", REGION, {"jobs": 1})
    assert office.effective.quotas().limits("ads", REGION) == {"jobs": 1}


def test_what_the_catalogue_has_lost_can_be_unset() -> None:
    office = Office()
    office.store.change("ads", "moon-west1", {"NVIDIA_MOON": 4, "vcpus": 1})

    answer = office.book.change("ads", "moon-west1", {"NVIDIA_MOON": None, "vcpus": None})

    assert answer == QuotaInForce("ads", "moon-west1", {}, {})
    assert office.store.list() == ()


def test_a_change_that_failed_is_told_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have happened nevertheless."""
    office = Office()

    def away(*_: object) -> None:
        raise Unavailable("the database is away")

    monkeypatch.setattr(office.store, "change", away)
    monkeypatch.setattr(office.store, "remove", away)
    with pytest.raises(Unavailable):
        office.book.change("ads", REGION, {T4: 1})
    assert office.changes == 1
    with pytest.raises(Unavailable):
        office.book.remove("ads", REGION)
    assert office.changes == 2
