"""A process namespace that a program lives in: it sees, and can signal, nobody outside.

    supervisor ── init (pid 1 inside) ── program
    supervisor ── keeper (left the host's namespaces) ── init (pid 1 inside) ── program

A small init is the namespace's first process; when it ends, the kernel kills everything in the
namespace before that end can be seen. It ends with the program, and with the supervisor, however
that dies. Nothing can leave the namespace. Init reports the program's exact wait status.

A keeper is there where the supervisor can't make a process namespace itself: where that takes a
user namespace, which the supervisor would have to go into, or ctypes, which it hasn't loaded.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time

from footplate.replica.isolation.cage import KILL_PATIENCE_S, Child, Family
from footplate.replica.isolation.processes import Process, find, find_below, is_alive, kill
from footplate.replica.isolation.spawn import (
    Launch,
    SpawnFailed,
    begin_session,
    close_all_but,
    execute,
    spawn,
)
from footplate.replica.small_files import write_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable, Sequence

    from footplate.replica.isolation.view import View

_NUMBER_BYTES = 8
_PROBE_CODE = 7
_LOST_STATUS = int(signal.SIGKILL)
"""Init didn't say how the program ended: someone killed it, and the program with it."""
_PAUSE_S = 0.002


class Resident(Child):
    """``leash`` carries signal numbers to init, and holds its life: init ends when it closes.

    ``pid`` is that of ``init``, or of its keeper.
    """

    def __init__(self, pid: int, init: Process | None, leash: int, report: int) -> None:
        super().__init__(pid)
        self.init = init
        self._leash = leash
        self._report = report

    def terminate(self) -> None:
        try:
            os.write(self._leash, bytes([signal.SIGTERM]))
        except BrokenPipeError:  # init is gone already
            return

    def kill(self) -> bool:
        """Kill init, and with it all in the namespace."""
        return self.init is None or kill_init(self.init)

    def reap(self) -> int:
        if self._status is None:
            super().reap()
            reported = _read_number(self._report)
            self._status = _LOST_STATUS if reported is None else reported
            os.close(self._report)
            os.close(self._leash)
        return self._status

    def record(self) -> dict[str, object]:
        init = self.init
        return {} if init is None else {"init": init.pid, "start": init.start}


class Space:
    """One for the programs of a cage, which start one after the other, each in a new namespace.

    ``init`` is that of the last one.
    """

    def __init__(self, init: Process | None = None) -> None:
        self._init = init

    @classmethod
    def reopen(cls, record: dict[str, Any]) -> Space:
        """``record`` has what ``Resident.record`` told, or nothing of it."""
        if "init" not in record:
            return cls()
        return cls(Process(record["init"], 0, record["start"], zombie=False))

    def start(self, launch: Launch, view: View | None, doors: Sequence[int] = ()) -> Resident:
        """``doors``: the ``cgroup.procs`` of groups that the program alone goes into, opened.

        Raises SpawnFailed, OSError.
        """
        leash_end, leash = os.pipe()
        report, report_end = os.pipe()
        supervisor = os.getpid()

        def begin(ready: int) -> None:
            _begin(launch, view, supervisor, Pipes(ready, leash_end, report_end, doors))

        def keep(ready: int) -> None:
            _keep(launch, view, supervisor, Pipes(ready, leash_end, report_end, doors))

        try:
            pid = _spawn_first(begin)
            init = find(pid) if pid else None
            if not pid:
                pid = spawn(keep)
                init = _find_child(pid, _read_number(report) or 0)
        except BaseException:
            os.close(leash)
            os.close(report)
            raise
        finally:
            os.close(leash_end)
            os.close(report_end)
        self._init = init
        return Resident(pid, init, leash, report)

    def kill(self) -> bool:
        """Everything in it; False: some of it is still there."""
        return self._init is None or kill_init(self._init)

    def family(self, child: Child) -> Family:
        return Family([child.pid, *find_below(child.pid)], self.keepers(child))

    def keepers(self, child: Child) -> tuple[int, ...]:
        """Those of ``child`` that aren't the program's."""
        init = self._init
        return (child.pid,) if init is None or init.pid == child.pid else (child.pid, init.pid)


def find_fault() -> str:
    """Why no program can live in a process namespace here; empty if one can."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        launch = Launch(["/bin/sh", "-c", f"exit {_PROBE_CODE}"], {}, "/", null, null)
        status = Space().start(launch, None).reap()
    except (OSError, SpawnFailed) as error:
        return str(error)
    finally:
        os.close(null)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) != _PROBE_CODE:
        return f"a program in a namespace ended with status {status}"
    return ""


def kill_init(init: Process) -> bool:
    """When init is a zombie, or gone, the kernel has killed all others before."""
    kill(init)
    end = time.monotonic() + KILL_PATIENCE_S
    while is_alive(init):
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_S)
    return True


class Pipes:
    """What keeper and init hold. Closing ``ready`` lets the supervisor go on.

    ``doors`` are as ``Space.start`` has them.
    """

    __slots__ = ("doors", "leash", "ready", "report")

    def __init__(self, ready: int, leash: int, report: int, doors: Sequence[int]) -> None:
        self.ready = ready
        self.leash = leash
        self.report = report
        self.doors = doors

    def of_program(self, launch: Launch) -> set[int]:
        """What must stay open until the program is there, and no longer."""
        return {self.ready, *self.doors} | launch.descriptors()


def _spawn_first(body: Callable[[int], None]) -> int | None:
    """As ``spawn``, for the first process of a new process namespace; this one stays where it is.

    None: that can't be had here. Who was forked from a nursery has loaded what it takes.

    Raises SpawnFailed, OSError.
    """
    kernel = sys.modules.get("footplate.replica.isolation.kernel")
    if kernel is None:
        return None
    try:
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        kernel.unshare(kernel.CLONE_NEWPID)  # of those that are forked from now on
    except OSError:  # a keeper may, in a user namespace, or tells why not
        os.close(own)
        return None
    try:
        return spawn(body)
    finally:
        kernel.setns(own)
        os.close(own)


def _find_child(parent: int, pid: int) -> Process | None:
    found = find(pid)
    return found if found is not None and found.parent == parent else None


def _begin(launch: Launch, view: View | None, supervisor: int, pipes: Pipes) -> None:
    """Init without a keeper: it is the supervisor's own child.

    Whether that has died before it could be told of the death, the leash tells.
    """
    from footplate.replica.isolation import kernel  # in children only: it costs memory
    from footplate.replica.isolation.view import leave_host

    gc.disable()
    close_all_but({pipes.leash, pipes.report} | pipes.of_program(launch))
    begin_session()
    leave_host()
    kernel.die_with_parent(signal.SIGKILL)
    _begin_init(launch, view, supervisor, pipes)


def _keep(launch: Launch, view: View | None, supervisor: int, pipes: Pipes) -> None:
    """The keeper: leave the host, start init, and last as long as it does.

    It shares init's mounts, so that it can't look into /proc once init has begun.
    """
    from footplate.replica.isolation import kernel  # in children only: it costs memory
    from footplate.replica.isolation.view import leave_host

    gc.disable()
    close_all_but({pipes.leash, pipes.report} | pipes.of_program(launch))
    begin_session()
    leave_host(kernel.CLONE_NEWPID)
    kernel.die_with_parent(signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)
    pid = os.fork()
    if pid:
        _write_number(pipes.report, pid)
        os.close(pipes.leash)
        os.close(pipes.report)
        _let_go(launch, pipes)
        os.waitpid(pid, 0)
        os._exit(0)
    kernel.die_with_parent(signal.SIGKILL)
    _begin_init(launch, view, supervisor, pipes)


def _let_go(launch: Launch, pipes: Pipes) -> None:
    """What is the program's alone, now that it has been forked."""
    for descriptor in pipes.of_program(launch):
        os.close(descriptor)


def _begin_init(launch: Launch, view: View | None, supervisor: int, pipes: Pipes) -> None:
    """Init: show the namespace in /proc, let the program start, reap until it ends."""
    wake_end, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    seen_end, seen = os.pipe()
    _begin_numbers(supervisor)
    program = os.fork()
    if program == 0:
        os.close(seen)
        _become(launch, pipes, seen_end)
    os.close(seen_end)
    _show_inside(view)
    try:
        os.write(seen, b"x")
    except BrokenPipeError:  # it has failed, and said why
        os._exit(1)
    os.close(seen)
    _let_go(launch, pipes)
    _serve(program, pipes, wake_end)


def _begin_numbers(last: int) -> None:
    """Programs of one host have different numbers: torchrun tells its nodes apart by them."""
    try:
        write_text("/proc/sys/kernel/ns_last_pid", str(last))
    except OSError:  # then they begin at 2
        return


def _become(launch: Launch, pipes: Pipes, seen_end: int) -> None:
    """The program: go into its groups, wait until init has drawn what it is to see, and start.

    The kernel takes 10 ms to move somebody into a group: as long as it takes init to draw.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for door in pipes.doors:
        os.write(door, b"0")  # itself, whatever its number is here
    if not os.read(seen_end, 1):  # init has failed, and said why
        os._exit(1)
    execute(launch)


def _show_inside(view: View | None) -> None:
    """For all in the mount namespace."""
    from footplate.replica.isolation import kernel  # in children only: it costs memory

    if view is not None:
        view.enter(fresh_proc=True)
        return
    kernel.mount("none", "/", kernel.MS_REC | kernel.MS_SLAVE)
    kernel.mount("proc", "/proc", kernel.MS_NOSUID_NODEV_NOEXEC, "proc")


def _serve(program: int, pipes: Pipes, wake_end: int) -> None:
    poller = select.poll()
    poller.register(pipes.leash, select.POLLIN)
    poller.register(wake_end, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poller.poll()]
        if wake_end in ready:
            os.read(wake_end, 4096)
            _reap_until(program, pipes.report)
        if pipes.leash in ready:
            signals = os.read(pipes.leash, 16)
            if not signals:
                os._exit(0)
            for number in signals:
                os.kill(program, number)


def _reap_until(program: int, report_end: int) -> None:
    """Reap whoever has ended; if the program has, report it, and end everything."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        if pid == program:
            _write_number(report_end, status)
            os._exit(0)


def _write_number(descriptor: int, number: int) -> None:
    os.write(descriptor, number.to_bytes(_NUMBER_BYTES, "little"))


def _read_number(descriptor: int) -> int | None:
    """The next number, None if there will be none."""
    data = os.read(descriptor, _NUMBER_BYTES)
    return int.from_bytes(data, "little") if len(data) == _NUMBER_BYTES else None
