"""The terms of one server, one after the other: whoever has news needn't know whether it leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.control.tokens import Bearer
    from footplate.domain.names import JobUid
    from footplate.ports.leases import Lease
    from footplate.server.data_dir import DataDir
    from footplate.server.term import Term
    from footplate.wire.replica_v1 import Record


class Terms:
    """``begin`` and ``end`` take turns, on one thread; everything else is for any, at any time.

    While no term lasts news is for nobody here: the next one begins with what is stored then.
    """

    def __init__(
        self, make: Callable[[Lease], Term], data_dir: DataDir, dismiss: Callable[[], None]
    ) -> None:
        """``dismiss`` sends supervisors that talk to this server to look for the next leader."""
        self._make = make
        self._data_dir = data_dir
        self._dismiss = dismiss
        self._term: Term | None = None

    def begin(self, lease: Lease) -> None:
        """Whatever it raises, no term lasts then."""
        term = self._make(lease)
        self._term = term
        try:
            term.start()
            self._data_dir.announce(lease.url)
        except BaseException:
            self._term = None
            term.close()
            raise

    def end(self) -> None:
        term, self._term = self._term, None
        self._data_dir.withdraw()
        self._dismiss()
        if term is not None:
            term.close()

    def wake(self) -> None:
        """There is something to do with jobs."""
        if (term := self._term) is not None:
            term.wake()

    def changed(self, uid: JobUid) -> None:
        """Something was written to a job, or measured of it."""
        if (term := self._term) is not None:
            term.changed(uid)

    def begin_search(self, uid: JobUid) -> None:
        """There is a new tuning job or pipeline."""
        if (term := self._term) is not None:
            term.begin_search(uid)

    def wake_exports(self) -> None:
        """There may be files of models to copy."""
        if (term := self._term) is not None:
            term.wake_exports()

    def hear(self, bearer: Bearer, records: Sequence[Record]) -> None:
        """A supervisor has reported."""
        if (term := self._term) is not None:
            term.hangs.hear(bearer, records)

    def refresh(self) -> None:
        """Anything may have been written unheard."""
        if (term := self._term) is not None:
            term.refresh()
