"""The jobs that wait for one site, and those that run on it."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.free_capacity import Needs, Resource, quota_needs, site_needs
from footplate.domain.names import JobUid
from footplate.domain.resources import Amounts

Entry = tuple[float, "JobUid", "Claim"]
"""A waiting job; the arrival and the id come first so that entries sort by them."""


@dataclass(eq=False, slots=True)
class Group:
    """A group of waiting jobs that differ only in name and arrival; the first starts first."""

    accelerator: str
    priority: int
    project: str
    longest_s: float
    site_needs: Needs
    quota_needs: Needs
    needs: Needs
    possible: bool
    """Whether the whole site is large enough."""
    entries: list[Entry] = field(default_factory=list)
    """In the order of their arrival."""


@dataclass(eq=False, slots=True)
class RunningJob:
    """A job that runs on the site.

    ``end`` is its latest expected end; the job may run longer.
    """

    claim: Claim
    since: float
    needs: Needs
    amounts: dict[Resource, int]
    end: float


def running_job(claim: Claim, since: float) -> RunningJob:
    needs = site_needs(claim) + quota_needs(claim)
    return RunningJob(claim, since, needs, dict(needs), since + claim.longest_s)


class SiteState:
    def __init__(self, capacity: Amounts) -> None:
        self.capacity = capacity
        self.running: dict[JobUid, RunningJob] = {}
        self.groups: dict[tuple[object, ...], Group] = {}
        """None is empty."""

    def set_capacity(self, capacity: Amounts) -> None:
        self.capacity = capacity
        for group in self.groups.values():
            group.possible = self._is_possible(group.site_needs)

    def wait(self, claim: Claim) -> None:
        key = _key(claim)
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = self._group(claim)
        insort(group.entries, (claim.arrived, claim.uid, claim))

    def run(self, claim: Claim, since: float) -> None:
        self.running[claim.uid] = running_job(claim, since)

    def remove(self, claim: Claim) -> None:
        if self.running.pop(claim.uid, None) is not None:
            return
        key = _key(claim)
        entries = self.groups[key].entries
        del entries[bisect_left(entries, (claim.arrived, claim.uid))]
        if not entries:
            del self.groups[key]

    def place(self, claim: Claim) -> tuple[int, int]:
        """Returns a waiting job's place in its accelerator's queue, from 1, and the length."""
        before, length = 0, 0
        for group in self.groups.values():
            if group.accelerator == claim.accelerator:
                length += len(group.entries)
                if group.priority > claim.priority:
                    before += len(group.entries)
                elif group.priority == claim.priority:
                    before += bisect_left(group.entries, (claim.arrived, claim.uid))
        return before + 1, length

    def _group(self, claim: Claim) -> Group:
        of_site, of_quota = site_needs(claim), quota_needs(claim)
        return Group(
            accelerator=claim.accelerator,
            priority=claim.priority,
            project=claim.project,
            longest_s=claim.longest_s,
            site_needs=of_site,
            quota_needs=of_quota,
            needs=of_site + of_quota,
            possible=self._is_possible(of_site),
        )

    def _is_possible(self, needs: Needs) -> bool:
        return all(self.capacity.get(str(name), 0) >= amount for name, amount in needs)


def _key(claim: Claim) -> tuple[object, ...]:
    return (
        claim.accelerator,
        claim.priority,
        claim.project,
        claim.region,
        claim.longest_s,
        # None below separates the two lists: else an amount of the quota could pass for one of the
        # site.
        *sorted(claim.holds.items()),
        None,
        *sorted(claim.counts.items()),
    )
