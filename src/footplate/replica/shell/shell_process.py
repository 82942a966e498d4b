"""A shell process inside the program's isolation, with its directory and variables.

    this process ── launcher (control groups, mounts) ── shell (process namespace)

The launcher ends as the shell does, and hands signals on to the shell's process group. Each of
the two is killed when the one before it ends, however that happens.
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios

from footplate.replica.isolation import syscalls
from footplate.replica.isolation.containment import Child
from footplate.replica.isolation.spawn import begin_session, close_all_but, spawn
from footplate.replica.isolation.users import become

TYPE_CHECKING = False  # without the module typing, which isn't needed
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Sequence, Tuple

    from footplate.replica.isolation.namespace_entry import Entry
    from footplate.replica.isolation.users import User

SHELLS = ("bash", "sh")
_SIGNALLED = 128
"""What shells add to the number of the signal that ended something."""
_LEAST, _MOST = 1, 10_000
_DEFAULT_SIZE = (80, 24)


class ShellRequest:
    """The user's request: a terminal, or a ``command`` without one."""

    def __init__(self, size: Tuple[int, int], term: str, command: str | None) -> None:
        self.size = size
        self.term = term
        self.command = command

    @classmethod
    def parse(cls, value: Dict[str, Any]) -> ShellRequest:
        command = value.get("command")
        term = str(value.get("term") or "xterm").replace("\0", "")
        return cls(
            read_size(value.get("size")),
            term,
            command.replace("\0", "") if isinstance(command, str) else None,
        )

    @property
    def arguments(self) -> List[str]:
        return ["-i"] if self.command is None else ["-c", self.command]


def read_size(value: Any) -> Tuple[int, int]:
    """Returns columns and rows; those of a usual terminal if ``value`` has none."""
    if not isinstance(value, list) or len(value) != 2:
        return _DEFAULT_SIZE
    if not all(type(number) is int and _LEAST <= number <= _MOST for number in value):
        return _DEFAULT_SIZE
    return value[0], value[1]


class ShellProcess:
    """A running shell. ``streams`` leads from descriptors to read to their names; ``entrance`` is
    the descriptor for input, or -1. No descriptor blocks.
    """

    def __init__(
        self, launcher: int, entrance: int, streams: Dict[int, str], *, terminal: bool
    ) -> None:
        self._child = Child(launcher)
        self.streams = streams
        self.entrance = entrance
        self._terminal = terminal
        for descriptor in (entrance, *streams):
            os.set_blocking(descriptor, False)

    @property
    def ended(self) -> bool:
        return self._child.has_ended()

    def code(self) -> int:
        """Returns the exit code as shells report it."""
        status = self._child.reap()
        if os.WIFSIGNALED(status):
            return _SIGNALLED + os.WTERMSIG(status)
        return os.WEXITSTATUS(status)

    def resize(self, size: Tuple[int, int]) -> None:
        if self._terminal and self.entrance >= 0:
            set_size(self.entrance, size)

    def end_input(self) -> None:
        """Closes a command's input; does nothing for a terminal."""
        if not self._terminal and self.entrance >= 0:
            os.close(self.entrance)
            self.entrance = -1

    def end_stream(self, descriptor: int) -> None:
        """Notes that nothing more comes from the descriptor."""
        del self.streams[descriptor]
        if descriptor != self.entrance:
            os.close(descriptor)

    def hang_up(self) -> None:
        """Signals the shell as when a terminal's line breaks; processes that ignore that are killed
        after it.
        """
        if not self.ended:
            self._child.terminate()


class Surroundings:
    """The program's variables, its directory and its user, if it has one."""

    def __init__(self, environment: Dict[str, str], directory: str, user: User | None) -> None:
        self.environment = environment
        self.directory = directory
        self.user = user


def start(entry: Entry, own: Surroundings, wanted: ShellRequest) -> ShellProcess:
    """Starts a shell beside the program. Raises SpawnFailed, OSError; nothing was started then."""
    if wanted.command is None:
        own.environment["TERM"] = wanted.term
        return _start_terminal(entry, own, wanted)
    return _start_command(entry, own, wanted)


def set_size(terminal: int, size: Tuple[int, int]) -> None:
    columns, rows = size
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _start_terminal(entry: Entry, own: Surroundings, wanted: ShellRequest) -> ShellProcess:
    ours, theirs = os.openpty()
    set_size(ours, wanted.size)

    def become() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        _execute((theirs, theirs, theirs), own, wanted)

    try:
        launcher = _spawn_in(entry, become, (theirs,))
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return ShellProcess(launcher, ours, {ours: "stdout"}, terminal=True)


def _start_command(entry: Entry, own: Surroundings, wanted: ShellRequest) -> ShellProcess:
    pipes = [os.pipe() for _ in range(3)]
    (given, entrance), (output, output_end), (errors, complained) = pipes
    theirs = (given, output_end, complained)

    def become() -> None:
        _execute(theirs, own, wanted)

    try:
        launcher = _spawn_in(entry, become, theirs)
    except BaseException:
        for descriptor in (entrance, output, errors):
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return ShellProcess(launcher, entrance, {output: "stdout", errors: "stderr"}, terminal=False)


def _spawn_in(entry: Entry, become: Callable[[], None], kept: Sequence[int]) -> int:
    """Starts a process in the program's namespaces; returns the launcher's pid. Raises SpawnFailed,
    OSError.
    """
    parent = os.getpid()

    def body(ready: int) -> None:
        close_all_but({ready, *kept})
        syscalls.die_with_parent(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        entry.enter()
        shell = os.fork()
        if shell == 0:
            syscalls.die_with_parent(signal.SIGKILL)
            begin_session()
            become()
        for descriptor in (ready, *kept):
            os.close(descriptor)
        _keep_door(shell)

    return spawn(body)


def _execute(stdio: Tuple[int, int, int], own: Surroundings, wanted: ShellRequest) -> None:
    """Becomes the shell, or raises OSError."""
    environment = own.environment
    for target, descriptor in enumerate(stdio):
        if own.user is not None:
            os.fchown(descriptor, own.user.uid, own.user.gid)
        os.dup2(descriptor, target)
    if own.user is not None:
        become(own.user)
        syscalls.die_with_parent(signal.SIGKILL)  # which the kernel has forgotten with the old user
    os.chdir(own.directory)
    for name in SHELLS[:-1]:
        try:
            os.execvpe(name, [name, *wanted.arguments], environment)  # noqa: S606  no shell wanted
        except OSError:  # the last one reports it
            continue
    name = SHELLS[-1]
    os.execvpe(name, [name, *wanted.arguments], environment)  # noqa: S606  as above


def _keep_door(shell: int) -> None:
    """Waits for the shell, and ends as it did. When asked to end, it hangs up the shell, then kills
    it.
    """
    rising = [signal.SIGKILL, signal.SIGHUP]

    def hand_on(*_: object) -> None:
        number = rising.pop() if len(rising) > 1 else rising[0]
        try:
            os.killpg(shell, number)
            os.killpg(shell, signal.SIGCONT)
        except ProcessLookupError:
            return

    signal.signal(signal.SIGTERM, hand_on)
    _, status = os.waitpid(shell, 0)
    os._exit(_SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
