"""Detects that other processes appended to log files."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.names import JobUid

POLL_INTERVAL_S = 0.15
"""Between two looks at the sizes. A notice for each append would cost the database too much."""


class FileWatcher:
    """Idle while there are no followers. ``size`` returns the size of a job's file; 0: no file."""

    def __init__(
        self,
        size: Callable[[JobUid], int],
        grown: Callable[[JobUid], None],
        elsewhere: Callable[[], bool],
        look_s: float = POLL_INTERVAL_S,
    ) -> None:
        """``grown`` is called with a job whose file is larger, while others may write."""
        self._size = size
        self._grown = grown
        self._elsewhere = elsewhere
        self._look_s = look_s
        self._lock = threading.Lock()
        self._followed: Counter[JobUid] = Counter()
        self._sizes: dict[JobUid, int] = {}
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, uid: JobUid, remove: Callable[[], None]) -> Callable[[], None]:
        """Look at the job's file from now on; returns what ends that, and calls ``remove``."""
        with self._lock:
            self._followed[uid] += 1
            # Whoever follows reads only after this: what it reads, it needn't be told of.
            self._sizes.setdefault(uid, self._size(uid))
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="growth", daemon=True)
                self._thread.start()
        self._wanted.set()

        def leave() -> None:
            remove()
            with self._lock:
                self._followed[uid] -= 1
                if not self._followed[uid]:
                    del self._followed[uid], self._sizes[uid]
                if not self._followed:
                    self._wanted.clear()

        return leave

    def close(self) -> None:
        self._closed.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(self._look_s):
            self._wanted.wait()
            if self._elsewhere():
                for uid in self._inspect():
                    self._grown(uid)

    def _inspect(self) -> list[JobUid]:
        """Those that have grown since the last look."""
        with self._lock:
            found = {uid: self._size(uid) for uid in self._sizes}
            grown = [uid for uid, size in found.items() if size != self._sizes[uid]]
            self._sizes.update(found)
        return grown
