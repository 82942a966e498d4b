"""Runs a program as if it took the place of this one: signals, exit code and descriptors."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PASSED_ON = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),
    *(signal.SIGUSR1, signal.SIGUSR2),
)
_OF_KEYS = (signal.SIGINT, signal.SIGQUIT)
_WATCHED = (*_PASSED_ON, signal.SIGCHLD)
_PR_SET_PDEATHSIG = 1


def run_program(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the program to its end; returns its exit code, or minus the signal that ended it.

    Signals to this process are passed to the program. Signals of the terminal reach both, and only
    the program handles them. On Linux, if this process is killed, so is the program. Raises OSError
    if the program can't be started.
    """
    if not hasattr(signal, "sigwaitinfo"):  # macOS has none
        return _run_with_handlers(words, environment)
    from ctypes import CDLL  # nothing else needs it

    parent, libc = os.getpid(), CDLL(None)

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # an ignored one would never come
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        process = subprocess.Popen(
            words,
            env=environment,
            close_fds=False,  # as with exec
            preexec_fn=prepare,
        )
        while process.poll() is None:
            info = signal.sigwaitinfo(_WATCHED)
            if info.si_signo != signal.SIGCHLD and info.si_code <= 0:  # sent by a process
                process.send_signal(info.si_signo)
        while signal.sigtimedwait(_WATCHED, 0) is not None:
            continue  # they were meant for the program
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process.returncode


def _run_with_handlers(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Does the same by signal handlers, which don't say who sent a signal.

    So signals that a terminal's keys send aren't passed on: the program would get them twice.
    """

    def pass_on(number: int, _frame: object) -> None:
        process.send_signal(number)

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    # Blocked until the handlers stand: a signal would end this process, and not the program.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    handlers: dict[signal.Signals, Any] = {}
    try:
        process = subprocess.Popen(words, env=environment, close_fds=False, preexec_fn=prepare)
        for number in _PASSED_ON:
            action = signal.SIG_IGN if number in _OF_KEYS else pass_on
            handlers[number] = signal.signal(number, action)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return process.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_by(number: int) -> None:
    """Ends this process by the signal that ended the program."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the program has left a core of its own
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
