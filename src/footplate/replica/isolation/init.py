"""Init processes of PID namespaces, each of which starts a program.

Init is forked when its program is known, and waits until the supervisor has recorded it.

A helper process forks it where the supervisor can't make a process namespace itself: that takes a
user namespace, which the supervisor would have to go into.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket

from footplate.replica.file_io import write_text
from footplate.replica.isolation import syscalls
from footplate.replica.isolation.mount_namespace import leave_host
from footplate.replica.isolation.procfs import Process, find
from footplate.replica.isolation.spawn import (
    ForkedChild,
    Launch,
    begin_session,
    close_all_but,
    fork,
    fork_child,
)

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Sequence

    from footplate.replica.isolation.mount_namespace import MountNamespace

_NUMBER_BYTES = 8
_START = 0
"""No signal has this number."""


class InitConfig:
    """The parameters of an init process. ``inside`` are the opened ``cgroup.procs`` of the groups
    for the program alone, ``outside`` those of the groups for init.
    """

    __slots__ = ("inside", "launch", "outside", "view")

    def __init__(
        self,
        launch: Launch,
        view: MountNamespace | None,
        inside: Sequence[int] = (),
        outside: Sequence[int] = (),
    ) -> None:
        self.launch = launch
        self.view = view
        self.inside = inside
        self.outside = outside

    def descriptors(self) -> set[int]:
        """Returns the descriptors that must stay open until the program has started."""
        id_map = {self.view.id_map} if self.view is not None and self.view.id_map >= 0 else set()
        return {*self.launch.descriptors(), *self.inside, *self.outside, *id_map}


class Init:
    """A running init process, the first of a program's namespace.

    ``control`` is the socket to init: it takes the word to start, then signal numbers, and brings
    the program's wait status. Init ends when the socket closes. ``pid`` is the id of init or of its
    helper process; ``process`` is init, None if it has already ended.
    """

    def __init__(self, child: ForkedChild, process: Process | None, control: socket.socket) -> None:
        self.pid = child.pid
        self.process = process
        self._child = child
        self._control = control

    def start(self) -> None:
        """Lets init start its program. Raises SpawnFailed."""
        try:
            # An init that is gone says why, or is as good as a killed program.
            self.forward_signal(_START)
            self._child.wait()
        except BaseException:
            self._control.close()
            raise

    def forward_signal(self, number: int) -> None:
        """Sends a signal to the program."""
        try:
            self._control.send(bytes([number]))
        except (BrokenPipeError, ConnectionResetError):  # init is gone already
            return

    def conclude(self) -> int | None:
        """Returns the program's wait status after ``pid`` was reaped; None: not reported."""
        with self._control:
            return _read_number(self._control)

    def give_up(self) -> None:
        """Ends init without having started a program."""
        self._child.abandon()
        self._control.close()
        os.waitpid(self.pid, 0)


def fork_init(config: InitConfig) -> Init:
    """Forks an init for one program; where no process namespace can be had, its ``start`` raises.

    Raises OSError: there can be no more processes.
    """
    own = _enter_new_namespace()
    if own is None:
        return _fork(
            _keep, config, lambda pid, control: _find_child(pid, _read_number(control) or 0)
        )
    try:
        return _fork(_begin, config, lambda pid, _: find(pid))
    finally:
        syscalls.setns(own)
        os.close(own)


def _enter_new_namespace() -> int | None:
    """Creates a process namespace for children forked from now on; returns a descriptor of the old
    one.

    None means that this process may not create one; a helper process in a user namespace then
    tries, or says why it can't.
    """
    try:
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # as said above
        return None
    try:
        syscalls.unshare(syscalls.CLONE_NEWPID)
    except OSError:  # as said above
        os.close(own)
        return None
    return own


def _fork(
    body: Callable[[InitConfig, int, int, int], None],
    config: InitConfig,
    look: Callable[[int, socket.socket], Process | None],
) -> Init:
    """Forks a child that runs ``body``, and returns the init that ``look`` finds.

    ``body`` gets the supervisor's number, what keeps it waiting, and init's end of the control
    socket; ``look`` gets the child's number, and our end.
    """
    end, control = socket.socketpair()
    supervisor = os.getpid()
    try:
        with end:
            child = fork(lambda ready: body(config, supervisor, ready, end.fileno()))
    except BaseException:
        control.close()
        raise
    return Init(child, look(child.pid, control), control)


def _find_child(parent: int, pid: int) -> Process | None:
    found = find(pid)
    return found if found is not None and found.parent == parent else None


def _begin(config: InitConfig, supervisor: int, ready: int, control: int) -> None:
    """Runs init without a helper process, as the supervisor's own child.

    If the supervisor dies before init can be told of its death, the control socket closes.
    """
    # A pass of the collector would write to pages that this process still shares with the
    # supervisor, and the kernel would copy each of them.
    gc.disable()
    close_all_but({ready, control, *config.descriptors()})
    begin_session()
    leave_host()
    syscalls.die_with_parent(signal.SIGKILL)
    _live(config, supervisor, ready, control)


def _keep(config: InitConfig, supervisor: int, ready: int, control: int) -> None:
    """Runs the helper process: leaves the host, starts init, and lasts as long as init does.

    The helper shares init's mounts, so that it can't look into /proc once init has begun.
    """
    gc.disable()
    close_all_but({ready, control, *config.descriptors()})
    begin_session()
    leave_host(syscalls.CLONE_NEWPID)
    syscalls.die_with_parent(signal.SIGKILL)
    # The supervisor may have died before prctl: no signal comes then.
    if os.getppid() != supervisor:
        os._exit(1)
    pid = os.fork()
    if pid:
        _write_number(control, pid)
        # The supervisor waits for the end of both pipes: a copy that stays open here would keep it
        # waiting as long as the program runs.
        for descriptor in (control, ready, *config.descriptors()):
            os.close(descriptor)
        os.waitpid(pid, 0)
        os._exit(0)
    # Once more: a child doesn't inherit this setting.
    syscalls.die_with_parent(signal.SIGKILL)
    _live(config, supervisor, ready, control)


def _live(config: InitConfig, supervisor: int, ready: int, control: int) -> None:
    """Runs init: shows the namespace in /proc, starts the program, and reaps processes until it
    ends.
    """
    wake_end, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _begin_numbers(supervisor)
    _show_inside(config.view)
    if not os.read(control, 1):  # there will be no program, or no supervisor
        os._exit(0)
    program = _start(config)
    if config.launch.user is not None:  # to change users has made the kernel forget it
        syscalls.die_with_parent(signal.SIGKILL)
    # Not before the program has started: until then any error reaches the supervisor through it.
    os.close(ready)
    _serve(program, control, wake_end)


def _begin_numbers(last: int) -> None:
    """Makes process numbers begin after ``last``: torchrun tells the nodes of one host apart by
    them.
    """
    try:
        write_text("/proc/sys/kernel/ns_last_pid", str(last))
    except OSError:  # then they begin at 2
        return


def _start(config: InitConfig) -> int:
    """Starts the program in its groups and returns its number. Init is in the groups only for that
    time.

    To enter the first group takes 10 ms, in which the kernel doesn't work; all others take next to
    nothing.
    """
    for door in config.inside:
        os.write(door, b"0")  # itself, whatever its number is here
    program = fork_child(config.launch)
    os.chdir("/")
    for door in config.outside:
        os.write(door, b"0")
    for descriptor in config.descriptors():
        os.close(descriptor)
    return program


def _show_inside(view: MountNamespace | None) -> None:
    """Makes the view and the processes of the namespace visible to all processes in the mount
    namespace.
    """
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
