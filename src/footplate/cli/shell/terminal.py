"""The terminal of this process: raw mode, and its input for a shell."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
import tty
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from footplate.wire.shell_v1 import Size

DEFAULT_SIZE = (80, 24)
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED = 128


@contextmanager
def raw_terminal(descriptor: int) -> Iterator[None]:
    """Passes each key to the reader, Ctrl-C too; restores the terminal afterwards.

    Restores it even if a signal ends this process.
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
    """Returns columns and rows; the usual ones if the terminal doesn't tell them."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:  # it is no terminal
        return DEFAULT_SIZE
    return (columns, rows) if columns and rows else DEFAULT_SIZE


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(_SIGNALLED + number)


_AT_ONCE_BYTES = 32768


class Listener(Protocol):
    """A receiver of the terminal's input, such as ``footplate.client.shell.RemoteShell``."""

    def send(self, data: bytes) -> bool: ...

    def resize(self, size: Size) -> None: ...

    def end_input(self) -> None: ...


class TerminalInput:
    """Reads input on a background thread until it or the process ends.

    ``start`` must be called on the main thread. With ``sized`` it also reports changes of the
    terminal's size.
    """

    def __init__(self, listener: Listener, descriptor: int, *, sized: bool) -> None:
        self._listener = listener
        self._descriptor = descriptor
        self._changed, self._change = os.pipe()
        os.set_blocking(self._change, False)
        if sized:
            signal.signal(signal.SIGWINCH, self._note)

    def start(self) -> None:
        threading.Thread(target=self._read, name="keyboard", daemon=True).start()

    def _note(self, *_: object) -> None:
        with suppress(BlockingIOError):  # then it is noted already
            os.write(self._change, b"!")

    def _read(self) -> None:
        poller = select.poll()
        for descriptor in (self._descriptor, self._changed):
            poller.register(descriptor, select.POLLIN)
        going = True
        while going:
            for descriptor, _ in poller.poll():
                if descriptor == self._changed:
                    os.read(self._changed, 4096)
                    self._listener.resize(terminal_size(self._descriptor))
                else:
                    going = self._pass_on()

    def _pass_on(self) -> bool:
        try:
            data = os.read(self._descriptor, _AT_ONCE_BYTES)
        except OSError:  # a terminal that is gone
            data = b""
        if data:
            return self._listener.send(data)
        self._listener.end_input()
        return False
