"""The admission desk: which waiting jobs may start now, and why the others may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from footplate.domain.admission.claims import Claim
    from footplate.domain.admission.explanation import Explanation
    from footplate.domain.amounts import Amounts
    from footplate.domain.names import JobUid
    from footplate.domain.quotas import Quotas

DEFAULT_PATIENCE_S = 3600.0


class Desk:
    """All claims on all sites; the same calls in the same order give the same answers.

    No clock, no I/O: ``now`` is given, in seconds since the epoch. Rules, in this order:

    1. A job starts whole or not at all; never over the capacity of its site, nor over the quota
       of its project in its region.
    2. Jobs that want the same accelerator on the same site stand in one line; in it the higher
       priority comes first.
    3. Then the project that holds less of the site (its dominant share); a job that has waited
       longer than ``patience_s`` no longer yields to that.
    4. Then first come.
    5. The first of a line that finds no room holds a reservation for the earliest moment at
       which there is room for certain; later ones start before it only if they don't delay it.
       One that only its project's quota holds up reserves nothing, and holds up nobody else's.
    """

    def __init__(
        self,
        capacity: Mapping[str, Amounts],
        quotas: Quotas,
        patience_s: float = DEFAULT_PATIENCE_S,
    ) -> None:
        raise NotImplementedError

    def wait(self, claim: Claim) -> None:
        """The job waits. One that waits or holds already is put in its new place."""
        raise NotImplementedError

    def hold(self, claim: Claim, since: float) -> None:
        """The job holds what it claims, since then."""
        raise NotImplementedError

    def leave(self, uid: JobUid) -> None:
        """The job waits or holds no more; one that isn't known: nothing happens."""
        raise NotImplementedError

    def set_quotas(self, quotas: Quotas) -> None:
        raise NotImplementedError

    def admit(self, now: float) -> tuple[JobUid, ...]:
        """Those that may start now, in the order of the decisions; they hold from now on.

        Sites where nothing has changed since the last call, nor any patience run out, aren't
        looked at again.
        """
        raise NotImplementedError

    def explain(
        self, uid: JobUid, now: float, variations: Iterable[tuple[str, Claim]] = ()
    ) -> Explanation | None:
        """Why the job waits; None: it doesn't.

        ``variations``: claims that the job could make instead, each with how to say it ("with 2
        NVIDIA_TESLA_T4 instead of 4"); the first that would start at once is named.
        """
        raise NotImplementedError

    def place(self, uid: JobUid) -> int:
        """Its place in its line, from 1; 0: it doesn't wait."""
        raise NotImplementedError

    def waiting(self) -> frozenset[JobUid]:
        raise NotImplementedError
