"""Names of the signals that end programs, and who sends them."""

from __future__ import annotations

import signal

OWN_SIGNALS = frozenset({4, 5, 6, 7, 8, 11, 14, 24, 25, 26, 27, 31})
"""ILL, TRAP, ABRT, BUS, FPE, SEGV, ALRM, XCPU, XFSZ, VTALRM, PROF, SYS (Linux numbers): a program
brings these on itself."""

_SHELL_BASE = 128
_OWN_DOING = {
    4: "its own doing: an instruction that this processor lacks",
    5: "its own doing: a trap",
    6: "its own doing: it aborted itself",
    7: "invalid memory access, such as a full /dev/shm or a truncated file",
    8: "its own doing: arithmetic that has no result",
    11: "its own doing: it touched memory that isn't its own",
    14: "its own doing: its alarm went off",
    24: "its own doing: it used up its limit of CPU time",
    25: "its own doing: it wrote past its limit of the size of files",
    26: "its own doing: its timer went off",
    27: "its own doing: its timer went off",
    31: "its own doing: a system call that isn't allowed to it",
}


def name_signal(number: int) -> str:
    """``9 (SIGKILL)``; some have no name here."""
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def describe_sender(number: int) -> str:
    """Who sent a fatal signal, as far as the signal shows."""
    return _OWN_DOING.get(number, "which Footplate did not send")


def read_code(code: int) -> str:
    """What an exit code of 128 and more means, as shells give it on; empty: nothing special."""
    number = code - _SHELL_BASE
    if not 0 < number < 65:
        return ""
    try:
        return f" (a process below it was ended by {signal.Signals(number).name})"
    except ValueError:
        return ""
