"""Starts the guard of a container, and knows whether it still runs."""

from __future__ import annotations

import select
import time

from footplate.containers.engine_api import NOT_FOUND, EngineError
from footplate.replica.container import empty_image
from footplate.replica.container.guard import READY

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.containers.engine_api import Attachment, Engine

START_S = 30.0
_MAX_SAID_BYTES = 4096


def guard_name(container: str) -> str:
    return f"{container}-guard"


class NoGuard(Exception):
    """Error of a guard that doesn't start; the message says why."""


class Guard:
    """A guard that is ready."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment

    def fileno(self) -> int:
        """Returns a descriptor that is readable when the guard has ended, or writes something."""
        return self._attachment.fileno()

    def has_ended(self) -> bool:
        """Returns whether the guard has ended; to be called when there is something to read."""
        return self._attachment.read() is None

    def close(self) -> None:
        self._attachment.close()


def start_guard(engine: Engine, container: str, spec: dict[str, Any]) -> Guard:
    """Starts a guard and returns it when it is ready. Raises NoGuard, EngineGone; nothing of the
    guard is left then.
    """
    name = guard_name(container)
    try:
        _create(engine, name, spec)
        attachment = engine.attach(name)
        try:
            engine.start(name)
            said = _read(attachment)
            if READY in said:
                return Guard(attachment)
        except BaseException:
            attachment.close()
            raise
    except EngineError as error:
        _remove(engine, name)
        raise NoGuard(str(error)) from error
    attachment.close()
    _remove(engine, name)
    words = said.decode(errors="replace").strip().splitlines()
    raise NoGuard(words[-1] if words else f"the guard prints nothing within {START_S:g} s")


def _create(engine: Engine, name: str, spec: dict[str, Any]) -> None:
    try:
        engine.create(name, spec)
    except EngineError as error:
        if error.status != NOT_FOUND:
            raise
        empty_image.load(engine)
        engine.create(name, spec)


def _read(attachment: Attachment) -> bytes:
    """Reads the guard's output until the guard is ready, has ended, or takes too long."""
    said, end = b"", time.monotonic() + START_S
    poller = select.poll()
    poller.register(attachment, select.POLLIN)
    while READY not in said and len(said) < _MAX_SAID_BYTES:
        left_s = end - time.monotonic()
        if not attachment.has_early and (left_s <= 0 or not poller.poll(left_s * 1000)):
            break
        pieces = attachment.read()
        if pieces is None:
            break
        said += b"".join(piece for _, piece in pieces)
    return said


def _remove(engine: Engine, name: str) -> None:
    try:
        engine.remove(name)
    except EngineError:  # it removes itself
        return
