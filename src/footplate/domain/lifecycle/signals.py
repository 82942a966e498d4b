"""Names of the signals that end programs, and who sends them."""

from __future__ import annotations

import signal

_SHELL_BASE = 128
_MAX_SIGNAL = 65
_WRAP = 256
_OFTEN_PASSED_ON = frozenset({2, 6, 7, 9, 11, 15})
"""INT, ABRT, BUS, KILL, SEGV, TERM: not 1, as 255 is rather a program's own -1."""
_OWN_DOING = {
    2: "sent by the program itself: a KeyboardInterrupt that no Python code caught",
    4: "because the program ran an instruction that this processor lacks",
    5: "because the program ran a breakpoint instruction (trap)",
    6: "because the program called abort()",
    7: "because of an invalid memory access, such as a full /dev/shm or a truncated file",
    8: "because the program did arithmetic without a result, such as a division by 0",
    11: "because the program used memory that isn't its own",
    13: "because the program wrote to a pipe that no process reads any more",
    14: "because the program's alarm went off",
    24: "because the program reached its limit of CPU time",
    25: "because the program reached its limit of the size of files",
    26: "because the program's timer went off",
    27: "because the program's timer went off",
    31: "because the program made a system call that it may not make",
}
OWN_SIGNALS = frozenset(_OWN_DOING)
"""Those that a program brings on itself (Linux numbers).

INT is one of them: no engine and no machine that goes down sends it, and a person who does wants
the program to end. From outside it looks the same.
"""


def name_signal(number: int) -> str:
    """Formats a signal with its name, if it has one: ``9 (SIGKILL)``."""
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def describe_sender(number: int) -> str:
    """Describes the sender of a fatal signal, as far as the signal shows it."""
    return _OWN_DOING.get(number, "which Footplate did not send")


def read_code(code: int) -> str:
    """Explains an exit code of 128 or more; empty: it has no special meaning.

    If signal 9 ended a process, shells exit with 137; launchers in Python, which see -9, exit with
    247.
    """
    number = code - _SHELL_BASE
    if _WRAP - code in _OFTEN_PASSED_ON:
        number = _WRAP - code
    if not 0 < number < _MAX_SIGNAL:
        return ""
    try:
        return (
            f" (which often means that {signal.Signals(number).name} killed a child process of "
            "the program)"
        )
    except ValueError:
        return ""
