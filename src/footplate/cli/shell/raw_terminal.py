"""Switches this process's terminal to raw mode."""

from __future__ import annotations

import os
import signal
import sys
import termios
import tty
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from footplate.wire.shell_v1 import Size

DEFAULT_SIZE = (80, 24)
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED = 128


@contextmanager
def raw_terminal(descriptor: int) -> Iterator[None]:
    """Each key goes to the reader, Ctrl-C too; the terminal is restored afterwards.

    Also if this process is told to end meanwhile, as long as it is told.
    """
    before = termios.tcgetattr(descriptor)
    handlers = {number: signal.signal(number, _end) for number in _ENDINGS}
    try:
        tty.setraw(descriptor, termios.TCSADRAIN)  # what was typed already isn't lost
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def terminal_size(descriptor: int) -> Size:
    """Columns and rows; those of a usual terminal where it doesn't say."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        return DEFAULT_SIZE
    return (columns, rows) if columns and rows else DEFAULT_SIZE


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(_SIGNALLED + number)
