"""Asks registries beside the thread that brings jobs forward, which one of them must not hold up.

Users name the registries: each may be as slow as it likes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from footplate.backends.engine.retries import LONGEST_RETRY_S
from footplate.containers.registry import ImageConfig, read_image

if TYPE_CHECKING:
    from footplate.containers.registry import Login

    _Key = tuple[str, frozenset[tuple[str, Login]]]
    """The image's name, and the logins that the registry is asked with."""
    Read = Callable[[str, Mapping[str, Login]], ImageConfig]

WAIT_S = 3.0
LONGEST_S = 2 * LONGEST_RETRY_S
"""How long an answer is kept for a job that doesn't ask again, as one that was cancelled. A job
that does may wait for long before that.
"""


class SlowRegistry(Exception):
    """The registry hasn't answered yet, and must be asked again. The message is for users."""


class ImageLookups:
    """Looks images up in registries, with one request at a time for each image."""

    def __init__(
        self,
        read: Read = read_image,
        wait_s: float = WAIT_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._wait_s = wait_s
        self._monotonic = monotonic
        self._pending: dict[_Key, tuple[Future[ImageConfig], float]] = {}
        """Lookups that are under way, each with the time of the question."""

    def find(self, name: str, logins: Mapping[str, Login]) -> ImageConfig:
        """Returns an image's configuration; waits only for a new request. Raises UnknownImage,
        SlowRegistry.
        """
        self._forget_old()
        # What one project's logins may read isn't for another one, and no refusal of its own.
        key = name, frozenset(logins.items())
        if key in self._pending:
            found, wait_s = self._pending[key][0], 0.0
        else:
            found, wait_s = self._ask(key, logins), self._wait_s
        if not wait((found,), wait_s).done:
            raise SlowRegistry(f"the registry has not described the image {name} yet")
        del self._pending[key]
        return found.result()

    def _forget_old(self) -> None:
        """Drops old answers that nobody has fetched: a tag may have moved since."""
        oldest_s = self._monotonic() - LONGEST_S
        self._pending = {
            key: (found, asked_s)
            for key, (found, asked_s) in self._pending.items()
            if asked_s > oldest_s or not found.done()
        }

    def _ask(self, key: _Key, logins: Mapping[str, Login]) -> Future[ImageConfig]:
        future: Future[ImageConfig] = Future()

        def work() -> None:
            try:
                future.set_result(self._read(key[0], logins))
            except Exception as error:  # whatever it is, who asked must know
                future.set_exception(error)

        # First the thread: without one, as on a machine that is full, nobody would ever answer.
        threading.Thread(target=work, name="image-lookup", daemon=True).start()
        self._pending[key] = future, self._monotonic()
        return future
