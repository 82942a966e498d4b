"""Init processes of PID namespaces, forked in advance and configured later.

A supervisor that has touched few of the pages that it shares with its fork server is forked
cheaply; later the kernel would copy for it, once more, every page that it has written before. So
init is what it makes first.

A helper process is there where the supervisor can't make a process namespace itself: where that
takes a user namespace, which the supervisor would have to go into, or ctypes, which it hasn't
loaded.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys

from footplate.replica.file_io import write_text
from footplate.replica.isolation import syscalls
from footplate.replica.isolation.init_protocol import InitConfig
from footplate.replica.isolation.procfs import Process, find
from footplate.replica.isolation.spawn import (
    ForkedChild,
    begin_session,
    close_all_but,
    fork,
    fork_child,
)

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.isolation.mount_namespace import MountNamespace

_NUMBER_BYTES = 8


class Init:
    """The supervisor's side of an init.

    The socket ``control`` takes its order, then signal numbers, and brings the program's wait
    status; init ends when it closes.

    ``pid`` is that of init, or of its helper process; ``process`` is init, None if it is gone
    already.
    """

    def __init__(self, child: ForkedChild, process: Process | None, control: socket.socket) -> None:
        self.pid = child.pid
        self.process = process
        self._child = child
        self._control = control

    def start(self, order: InitConfig) -> None:
        """Lets it start its program. Raises SpawnFailed."""
        try:
            order.send(self._control)  # who is gone says why, or is as good as a program killed
            self._child.wait()
        except BaseException:
            self._control.close()
            raise

    def forward_signal(self, number: int) -> None:
        """A signal to the program."""
        try:
            self._control.send(bytes([number]))
        except (BrokenPipeError, ConnectionResetError):  # init is gone already
            return

    def conclude(self) -> int | None:
        """Returns the program's wait status after ``pid`` was reaped; None: not reported."""
        with self._control:
            return _read_number(self._control)

    def give_up(self) -> None:
        """Ends it: there will be no program."""
        self._child.abandon()
        self._control.close()
        os.waitpid(self.pid, 0)


def make() -> Init | None:
    """Returns an init that is this process's own child.

    None: that can't be had here. Who was forked from a fork server has loaded what it takes.

    Raises OSError: there can be no more processes.
    """
    kernel = sys.modules.get("footplate.replica.isolation.syscalls")
    if kernel is None:
        return None
    try:
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # a helper process tries it, and says why not
        return None
    try:
        kernel.unshare(kernel.CLONE_NEWPID)  # of those that are forked from now on
    except OSError:  # a helper process may, in a user namespace, or tells why not
        os.close(own)
        return None
    try:
        return _make(_begin, lambda pid, _: find(pid))
    finally:
        kernel.setns(own)
        os.close(own)


def make_with_helper_process() -> Init:
    """Makes an init by a helper; without one ``start`` raises. Raises OSError, as ``make``."""
    return _make(_keep, lambda pid, control: _find_child(pid, _read_number(control) or 0))


def _make(
    body: Callable[[int, int, int], None], look: Callable[[int, socket.socket], Process | None]
) -> Init:
    """Forks a child that runs ``body``, and returns the init that ``look`` finds.

    ``body`` gets the supervisor's number, what keeps it waiting, and init's end of the control
    socket; ``look`` gets the child's number, and our end.
    """
    end, control = socket.socketpair()
    supervisor = os.getpid()
    try:
        with end:
            child = fork(lambda ready: body(supervisor, ready, end.fileno()))
    except BaseException:
        control.close()
        raise
    return Init(child, look(child.pid, control), control)


def _find_child(parent: int, pid: int) -> Process | None:
    found = find(pid)
    return found if found is not None and found.parent == parent else None


def _begin(supervisor: int, ready: int, control: int) -> None:
    """Runs init without a helper process: it is the supervisor's own child.

    If that dies before init can be told of its death, the control socket closes.
    """
    from footplate.replica.isolation.mount_namespace import leave_host

    gc.disable()
    close_all_but({ready, control})
    begin_session()
    leave_host()
    syscalls.die_with_parent(signal.SIGKILL)
    _live(supervisor, ready, control)


def _keep(supervisor: int, ready: int, control: int) -> None:
    """The helper process: leave the host, start init, and last as long as it does.

    It shares init's mounts, so that it can't look into /proc once init has begun.
    """
    from footplate.replica.isolation.mount_namespace import leave_host

    gc.disable()
    close_all_but({ready, control})
    begin_session()
    leave_host(syscalls.CLONE_NEWPID)
    syscalls.die_with_parent(signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)
    pid = os.fork()
    if pid:
        _write_number(control, pid)
        os.close(control)
        os.close(ready)
        os.waitpid(pid, 0)
        os._exit(0)
    syscalls.die_with_parent(signal.SIGKILL)
    _live(supervisor, ready, control)


def _live(supervisor: int, ready: int, control: int) -> None:
    """Runs init: shows the namespace in /proc, starts the program, reaps until it ends."""
    wake_end, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _begin_numbers(supervisor)
    channel = socket.socket(fileno=control)
    try:
        order = InitConfig.receive(channel)
    except EOFError:
        os._exit(0)
    _show_inside(order.view)
    program = _start(order)
    if order.launch.user is not None:  # to change users has made the kernel forget it
        syscalls.die_with_parent(signal.SIGKILL)
    os.close(ready)
    channel.detach()
    _serve(program, control, wake_end)


def _begin_numbers(last: int) -> None:
    """Begins process numbers after ``last``: torchrun tells the nodes of one host apart by them."""
    try:
        write_text("/proc/sys/kernel/ns_last_pid", str(last))
    except OSError:  # then they begin at 2
        return


def _start(order: InitConfig) -> int:
    """Starts the program in its groups; init is in them as long as that takes, and no longer.

    To go into the first takes 10 ms, in which the kernel doesn't work; all others next to nothing.
    """
    for door in order.inside:
        os.write(door, b"0")  # itself, whatever its number is here
    program = fork_child(order.launch)
    os.chdir("/")
    for door in order.outside:
        os.write(door, b"0")
    for descriptor in (*order.inside, *order.outside, *order.launch.descriptors()):
        os.close(descriptor)
    return program


def _show_inside(view: MountNamespace | None) -> None:
    """Shows files and processes to all in the mount namespace."""
    if view is not None:
        view.enter(fresh_proc=True)
        view.close()
        return
    syscalls.mount("none", "/", syscalls.MS_REC | syscalls.MS_SLAVE)
    syscalls.mount("proc", "/proc", syscalls.MS_NOSUID_NODEV_NOEXEC, "proc")


def _serve(program: int, control: int, wake_end: int) -> None:
    poller = select.poll()
    poller.register(control, select.POLLIN)
    poller.register(wake_end, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poller.poll()]
        if wake_end in ready:
            os.read(wake_end, 4096)
            _reap_until(program, control)
        if control in ready:
            signals = os.read(control, 16)
            if not signals:
                os._exit(0)
            for number in signals:
                os.kill(program, number)


def _reap_until(program: int, control: int) -> None:
    """Reaps children that have ended; reports the program if it has, and ends everything."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        if pid == program:
            _write_number(control, status)
            os._exit(0)


def _write_number(control: int, number: int) -> None:
    os.write(control, number.to_bytes(_NUMBER_BYTES, "little"))


def _read_number(control: socket.socket) -> int | None:
    """Returns the next number, None if there will be none."""
    try:
        data = control.recv(_NUMBER_BYTES)
    except ConnectionResetError:
        return None
    return int.from_bytes(data, "little") if len(data) == _NUMBER_BYTES else None
