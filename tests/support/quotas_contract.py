"""What every store of quotas does: subclass this and give it the fixtures.

``quotas`` is an empty store, ``elsewhere`` another one on the same data, as another server has it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.quotas import ANY, Quota

if TYPE_CHECKING:
    from footplate.ports.quotas import QuotaStore

REGION = "us-central1"


class QuotaContract:
    """One transaction each; limits of one resource never touch those of another."""

    def test_at_first_there_are_none(self, quotas: QuotaStore) -> None:
        assert quotas.list() == ()

    def test_limits_come_back_as_they_were(self, quotas: QuotaStore, elsewhere: QuotaStore) -> None:
        limits = {"vcpus": 0, "jobs": 10**9, "NVIDIA_TESLA_T4": 4}
        quotas.change("ads", REGION, limits)
        assert quotas.list() == elsewhere.list() == (Quota("ads", REGION, limits),)

    def test_a_change_leaves_other_resources_as_they_are(self, quotas: QuotaStore) -> None:
        quotas.change("ads", REGION, {"vcpus": 64, "jobs": 3, "TPU_V2": 8})
        quotas.change("ads", REGION, {"vcpus": 32, "jobs": None, "NVIDIA_TESLA_T4": 1})
        limits = {"vcpus": 32, "TPU_V2": 8, "NVIDIA_TESLA_T4": 1}
        assert quotas.list() == (Quota("ads", REGION, limits),)

    def test_they_are_listed_by_project_and_region(self, quotas: QuotaStore) -> None:
        scopes = [("b", "us-east1"), ("a", REGION), ("B", ANY), (ANY, REGION), ("a", ANY)]
        for amount, (project, region) in enumerate(scopes):
            quotas.change(project, region, {"vcpus": amount})
        listed = [(quota.project, quota.region) for quota in quotas.list()]
        assert listed == sorted(scopes)

    def test_a_quota_without_limits_is_none(self, quotas: QuotaStore) -> None:
        quotas.change("ads", REGION, {"vcpus": 64})
        quotas.change("ads", REGION, {"vcpus": None, "jobs": None})
        quotas.change("maps", REGION, {})
        assert quotas.list() == ()

    def test_removal_takes_exactly_one_project_and_region(self, quotas: QuotaStore) -> None:
        for project, region in (("ads", REGION), ("ads", ANY), (ANY, REGION), ("Ads", REGION)):
            quotas.change(project, region, {"vcpus": 64, "jobs": 1})
        quotas.remove("ads", REGION)
        listed = [(quota.project, quota.region) for quota in quotas.list()]
        assert listed == [(ANY, REGION), ("Ads", REGION), ("ads", ANY)]

    @pytest.mark.parametrize("project", ["nobody", "nul \0", "half \ud800", "'; --", "%"])
    def test_removing_what_is_not_there_does_nothing(
        self, quotas: QuotaStore, project: str
    ) -> None:
        quotas.change("ads", REGION, {"vcpus": 64})
        quotas.remove(project, REGION)
        assert quotas.list() == (Quota("ads", REGION, {"vcpus": 64}),)

    @pytest.mark.parametrize("text", ["nul \0", "half \ud800"])
    def test_a_name_that_cannot_be_kept_is_refused(self, quotas: QuotaStore, text: str) -> None:
        quotas.change("ads", REGION, {"vcpus": 64})
        changes: list[tuple[str, str, dict[str, int | None]]] = [
            (text, REGION, {"vcpus": 1}),
            ("ads", text, {"vcpus": 1}),
            ("ads", REGION, {"vcpus": 1, text: 1}),
        ]
        for project, region, limits in changes:
            with pytest.raises(InvalidArgument, match="given; allowed: text"):
                quotas.change(project, region, limits)
        assert quotas.list() == (Quota("ads", REGION, {"vcpus": 64}),)

    def test_changes_at_once_are_whole(self, quotas: QuotaStore, elsewhere: QuotaStore) -> None:
        """All write the same rows, in different orders: the last one has won all of them."""
        barrier = threading.Barrier(4)

        def write(to: QuotaStore, writer: int) -> None:
            names = [f"r{number}" for number in range(5)]
            barrier.wait()
            for _ in range(5):
                names.reverse()
                to.change("ads", REGION, dict.fromkeys(names, writer))

        stores = (quotas, elsewhere) * 2
        threads = [threading.Thread(target=write, args=pair[::-1]) for pair in enumerate(stores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (quota,) = quotas.list()
        assert len(quota.limits) == 5
        assert len(set(quota.limits.values())) == 1
