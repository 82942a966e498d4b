"""Forks and executes programs, and reports every failure to the parent."""

from __future__ import annotations

import errno
import os
import signal

from footplate.replica.file_io import read_text, write_text
from footplate.replica.isolation import syscalls
from footplate.replica.isolation.users import EffectiveUser, become

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Sequence

    from footplate.replica.isolation.users import User

_OOM_SCORE = "/proc/self/oom_score_adj"
_OOM_SCORE_RISE = 500
_OOM_SCORE_LIMIT = 1000
# Python ignores the first two from its start, and a program would inherit that over ``exec``. The
# supervisor ignores SIGHUP and handles the rest, which children that don't exec would keep.
_RESET_SIGNALS = ("SIGPIPE", "SIGXFSZ", "SIGTERM", "SIGINT", "SIGHUP", "SIGCHLD")
_UNSTARTED = 127
_PART_BYTES = 4096


_TRANSIENT = frozenset(
    (
        *(errno.EAGAIN, errno.EINTR, errno.ENOMEM, errno.EMFILE, errno.ENFILE),
        *(errno.ENOSPC, errno.EDQUOT),
    )
)
_NAMESPACE_LIMITS = "/proc/sys/user/max_{}_namespaces"
_NAMESPACE_KINDS = ("user", "mnt", "pid", "ipc")


class SpawnFailed(Exception):
    """Error of a child that could not start; the message is the child's reason.

    ``errno`` is that of the system call that failed; 0 if another error was the reason.
    """

    def __init__(self, message: str, number: int = 0) -> None:
        super().__init__(message)
        self.errno = number


def find_errno(error: BaseException | None) -> int:
    """Returns the number of the system's error that caused ``error``; 0 if there is none."""
    while error is not None:
        if isinstance(error, (OSError, SpawnFailed)) and error.errno:
            return error.errno
        error = error.__cause__
    return 0


def is_transient(error: BaseException) -> bool:
    """Returns whether the machine lacks something that it may have again later.

    The kernel says ENOSPC where there are too many namespaces, also where none are allowed.
    """
    number = find_errno(error)
    return number in _TRANSIENT and not (number == errno.ENOSPC and _forbids_namespaces())


def _forbids_namespaces() -> bool:
    for kind in _NAMESPACE_KINDS:
        try:
            if int(read_text(_NAMESPACE_LIMITS.format(kind))) == 0:
                return True
        except (OSError, ValueError):  # a kernel without this limit forbids nothing
            continue
    return False


class Launch:
    """A program to start: ``stdout`` and ``stderr`` are descriptors, stdin is empty.

    ``user`` runs it; None means this process's user. ``processes`` is how many its user may have; 0
    means as many as this process's. ``trusted`` means that it runs no code of users.
    ``keep_record`` is called when the containment's record is complete, before the program starts.
    """

    __slots__ = (
        *("argv", "cwd", "environment", "keep_record", "processes", "stderr", "stdout"),
        *("trusted", "user"),
    )

    def __init__(
        self,
        argv: list[str],
        environment: dict[str, str],
        cwd: str,
        stdout: int,
        stderr: int,
        *,
        user: User | None = None,
        processes: int = 0,
        trusted: bool = False,
        keep_record: Callable[[], object] = lambda: None,
    ) -> None:
        self.argv = argv
        self.environment = environment
        self.cwd = cwd
        self.stdout = stdout
        self.stderr = stderr
        self.user = user
        self.processes = processes
        self.trusted = trusted
        self.keep_record = keep_record

    def own_output(self) -> None:
        """Lets the user open /dev/stdout anew. Raises OSError."""
        if self.user is not None:
            for descriptor in (self.stdout, self.stderr):
                os.fchown(descriptor, self.user.uid, self.user.gid)

    def descriptors(self) -> set[int]:
        """Returns the descriptors that must stay open until the program has started."""
        return {self.stdout, self.stderr}


class ForkedChild:
    """A forked child that hasn't yet become what it is to be; call ``wait`` once, or
    ``abandon``.
    """

    __slots__ = ("_reading", "pid")

    def __init__(self, pid: int, reading: int) -> None:
        self.pid = pid
        self._reading = reading

    def wait(self) -> None:
        """Waits until the child has exec'ed, or closed the descriptor that keeps the parent
        waiting.

        Raises SpawnFailed with the child's reason if it couldn't start; it is gone then.
        """
        report = _read_all(self._reading)
        if report:
            os.waitpid(self.pid, 0)
            number, _, message = report.decode("utf-8", "replace").partition(" ")
            raise SpawnFailed(message, int(number))

    def abandon(self) -> None:
        os.close(self._reading)


def fork(body: Callable[[int], None]) -> ForkedChild:
    """Forks a child that runs ``body``, which gets the descriptor that keeps the parent waiting.

    exec closes that descriptor; a child that doesn't exec must close it itself. Raises OSError if
    no process can be started.
    """
    reading, writing = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if pid == 0:
        try:
            _reset_signals()
            body(writing)
        except BaseException as error:  # nothing may unwind into the parent's code
            report = f"{find_errno(error)} {_describe(error)}"
            os.write(writing, report.encode("utf-8", "replace"))
        finally:
            os._exit(_UNSTARTED)
    os.close(writing)
    return ForkedChild(pid, reading)


def spawn(body: Callable[[int], None]) -> int:
    """Forks a child that runs ``body``; returns its pid once the child has exec'ed.

    Raises:
        SpawnFailed: ``body`` raised; the child is gone.
        OSError: there can be no more processes.
    """
    child = fork(body)
    child.wait()
    return child.pid


def try_in_child(act: Callable[[], None]) -> str:
    """Returns why ``act`` fails in a child that does nothing else; '' if it doesn't.

    Raises SpawnFailed, OSError: for a reason that may pass.
    """

    def body(ready: int) -> None:
        act()
        os.close(ready)
        os._exit(0)

    try:
        os.waitpid(spawn(body), 0)
    except (SpawnFailed, OSError) as error:
        if is_transient(error):
            raise
        return str(error)
    return ""


def _read_all(descriptor: int) -> bytes:
    content = b""
    try:
        while True:
            part = os.read(descriptor, _PART_BYTES)
            content += part
            if not part:
                return content
    finally:
        os.close(descriptor)


def execute(launch: Launch) -> None:
    """Becomes the program; never returns."""
    launch.own_output()
    _limit(launch)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(launch.stdout, 1)
    os.dup2(launch.stderr, 2)
    if launch.user is not None:
        become(launch.user)
    os.chdir(launch.cwd)
    os.execvpe(launch.argv[0], launch.argv, launch.environment)  # noqa: S606  no shell wanted


def fork_child(launch: Launch) -> int:
    """Forks the program and returns its pid; changes to the program's directory, too.

    The program leads a process group of its own. It is never a copy of this process, as after
    ``os.fork``: the kernel would copy page tables only to drop them. Raises OSError.
    """
    # Python's posix_spawn can set no working directory: the child inherits this process's.
    os.chdir(launch.cwd)
    os.environ["PATH"] = launch.environment.get("PATH", os.defpath)  # it is looked for there
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, launch.stdout, 1),
        (os.POSIX_SPAWN_DUP2, launch.stderr, 2),
    ]
    # Before the user changes: fchown needs root.
    launch.own_output()
    _limit(launch)
    if launch.user is None:
        return _spawn_program(launch, streams)
    with EffectiveUser(launch.user):
        return _spawn_program(launch, streams)


def _limit(launch: Launch) -> None:
    syscalls.limit_resources(launch.processes)
    if launch.user is None and os.geteuid() != 0 and not launch.trusted:
        try:
            syscalls.forgo_new_privileges()
        except AttributeError:  # no Linux
            return


def _spawn_program(launch: Launch, streams: Sequence[tuple[str | int, ...]]) -> int:
    words = launch.argv, launch.environment
    # A process group and no session: standalone builds of Python can't ask posix_spawn for one.
    return os.posix_spawnp(launch.argv[0], *words, file_actions=streams, setpgroup=0)


def begin_session() -> None:
    """Begins a new session, and makes this process a victim of the OOM killer before the
    supervisor.
    """
    os.setsid()
    try:
        score = min(_OOM_SCORE_LIMIT, int(read_text(_OOM_SCORE)) + _OOM_SCORE_RISE)
        write_text(_OOM_SCORE, str(score))
    except (OSError, ValueError):  # others may go first then
        return


def close_all_but(kept: set[int]) -> None:
    """Closes, for children that don't exec, what the supervisor has open, above all its lock."""
    if syscalls.close_all_but({0, 1, 2} | kept):
        return
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor > 2 and descriptor not in kept:
            try:
                os.close(descriptor)
            except OSError:  # that of the listing itself
                continue


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    for name in _RESET_SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _describe(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__
