"""Asks registries beside the thread that brings jobs forward, which one of them must not hold up.

Users name the registries: each may be as slow as it likes.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING

from footplate.backends.kubernetes.image_registry import read_image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.backends.kubernetes.image_registry import ImageConfig, Login

    Read = Callable[[str, Mapping[str, Login]], ImageConfig]

WAIT_S = 3.0


class SlowRegistry(Exception):
    """It has not answered yet: ask again; the message is for users."""


class ImageLookups:
    """One question at a time for each image."""

    def __init__(self, read: Read = read_image, wait_s: float = WAIT_S) -> None:
        self._read = read
        self._wait_s = wait_s
        self._pending: dict[str, Future[ImageConfig]] = {}

    def find(self, name: str, logins: Mapping[str, Login]) -> ImageConfig:
        """Waits only for a question that is new. Raises UnknownImage, SlowRegistry."""
        found, wait_s = self._pending.get(name), 0.0
        if found is None:
            found, wait_s = self._ask(name, logins), self._wait_s
        try:
            config = found.result(wait_s)
        except NotYet:
            raise SlowRegistry(f"its registry has not said yet what {name} is") from None
        except Exception:
            del self._pending[name]
            raise
        del self._pending[name]
        return config

    def _ask(self, name: str, logins: Mapping[str, Login]) -> Future[ImageConfig]:
        future: Future[ImageConfig] = Future()

        def work() -> None:
            try:
                future.set_result(self._read(name, logins))
            except Exception as error:  # whatever it is, who asked must know
                future.set_exception(error)

        self._pending[name] = future
        threading.Thread(target=work, name="image-lookup", daemon=True).start()
        return future
