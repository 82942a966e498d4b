"""A program has all the isolation that was promised, or doesn't start: whatever step fails."""

from __future__ import annotations

import errno
import mmap
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from footplate.protocol.promised import PROCESS_NAMESPACE, USER, VIEW
from footplate.protocol.task import CommandTask
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica import probe
from footplate.replica.context import Context
from footplate.replica.isolation import syscalls
from footplate.replica.isolation.spawn import Launch
from footplate.replica.preparation_phases import isolate
from footplate.replica.prepared import Prepared
from footplate.replica.program_start import make_program, start
from footplate.replica.workdir import Home
from footplate.server.program_users import DEFAULT_RANGE
from tests.support.replica_context import make_context, make_task

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs namespaces"),
    pytest.mark.skipif(os.geteuid() != 0, reason="is about what root starts"),
]
KINDS_OF_ERROR = (errno.EIO, errno.ENOENT, errno.EPERM, errno.EINVAL, errno.ENOSPC)
UNTOUCHED = {"_exit", "waitpid", "waitstatus_to_exitcode", "close", "kill", "killpg", "getpid"}
"""What ends a process, or can't fail."""
SHOW = """
while read name values; do case $name in Uid:|CapPrm:|CapEff:|NoNewPrivs:) echo $name $values;; esac
done < /proc/self/status
[ -e SECRET ] && echo secret
[ -e MARKER ] && echo marker
[ -d /proc/HOST ] && echo host
echo ran
"""


class Faults:
    """Makes one system call fail in each process: the ``number``-th that Python code makes.

    ``libc`` stands before the C library; the functions of ``os`` are seen by the profiler, which
    raises in their place. ``fired`` is shared with children.
    """

    def __init__(self, libc: Any, number: int, error: int) -> None:
        self._libc = libc
        self._left = number
        self._error = error
        self._fired = mmap.mmap(-1, 1)

    @property
    def fired(self) -> bool:
        return self._fired[0] == 1

    def _fails(self) -> bool:
        self._left -= 1
        if self._left == 0:
            self._fired[0] = 1
        return self._left == 0

    def see(self, _frame: object, event: str, called: Any) -> None:
        if event != "c_call" or getattr(called, "__module__", "") != "posix":
            return
        if called.__name__ not in UNTOUCHED and self._fails():
            raise OSError(self._error, os.strerror(self._error))

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._libc, name)

        def act(*arguments: Any) -> int:
            if self._fails():
                ctypes = syscalls._ctypes()
                ctypes.set_errno(self._error)
                return -1
            return int(call(*arguments))

        return act


class Rig:
    """A service's directories; each ``run`` is one start of a replica."""

    def __init__(self, top: Path, mode: str) -> None:
        self.top = top
        for name in ("data/buckets/stage", "data/cache", "data/replicas"):
            (top / name).mkdir(parents=True)
        (top / "data").chmod(0o700)
        (top / "data" / "secret").write_text("key")
        self.marker = top / "marker"
        self.marker.touch()
        self.ticket = SupervisorTicket(
            isolation=mode,
            program_users=DEFAULT_RANGE,
            buckets=str(top / "data" / "buckets"),
            cache=str(top / "data" / "cache"),
            private=(str(top / "data"),),
        )
        found = probe.find_promised(self.ticket, str(top / "data"), limited=False)
        missing = [f"{name}: {found.faults[name]}" for name in (PROCESS_NAMESPACE, USER, VIEW)]
        if any(text.partition(": ")[2] for text in missing) or any((found.disks or {}).values()):
            pytest.skip(f"this machine lacks what is promised: {missing}, {found.disks}")
        self.ticket.promised = found

    def make_context(self) -> Context:
        home = Home(str(self.top / "data" / "replicas" / str(os.getpid())))
        os.mkdir(home.path, 0o700)  # noqa: PTH102
        home.make_directories()
        context = make_context(
            Path(home.path),
            make_task(CommandTask(("/bin/sh",)), job="projects/p/jobs/j", buckets=("stage",)),
            self.ticket,
            command=[sys.executable, str(self.top / "archive")],
            host={"PATH": "/usr/bin:/bin"},
        )
        context.mark = os.urandom(16).hex()
        context.journal = cast("Any", SimpleNamespace(event=lambda *_: None))
        return context

    def run(self, faults: Faults | None = None) -> list[str]:
        """What the program says of its isolation; nothing where none runs.

        In a process of its own: a step that fails may leave a supervisor that can't go on.
        """
        reading, writing = os.pipe()
        text = SHOW.replace("SECRET", str(self.top / "data" / "secret"))
        text = text.replace("MARKER", str(self.marker)).replace("HOST", str(os.getpid()))
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reading)
                self._start(["/bin/sh", "-c", text], writing, faults)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as output:
            said = output.read()
        os.waitpid(pid, 0)
        return said.split("\n")[:-1]

    def _start(self, argv: list[str], output: int, faults: Faults | None) -> None:
        context = self.make_context()
        if faults is not None:
            syscalls._LIBRARIES[:] = [cast("Any", faults)]
            sys.setprofile(faults.see)
        try:
            isolate(context)
            program = make_program(context, Prepared(sys.executable, ()))
            launch = Launch(argv, {}, context.home.work, output, output, user=context.user)
            start(context, launch, program.view)
        finally:
            sys.setprofile(None)
            if context.child is not None:
                context.child.reap()
            context.kill()


@pytest.fixture(params=["namespace", "best-effort"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    tmp_path.chmod(0o755)
    return Rig(tmp_path, request.param)


def fault_of(said: list[str], mode: str) -> str:
    """What a program lacks that it was promised."""
    uid = next((line.split()[1:] for line in said if line.startswith("Uid:")), [])
    if len(set(uid)) != 1 or not DEFAULT_RANGE[0] < int(uid[0]) <= DEFAULT_RANGE[1]:
        return f"its user is {uid}"
    if not {"NoNewPrivs: 1", f"CapPrm: {0:016}", f"CapEff: {0:016}"} <= set(said):
        return "it may gain privileges"
    if "secret" in said or "marker" in said:
        return "it sees files of the host"
    return "it sees other processes" if mode == "namespace" and "host" in said else ""


@pytest.mark.parametrize("stride", [23, pytest.param(1, marks=pytest.mark.soak)])
def test_each_step_that_fails_keeps_the_program_from_starting(rig: Rig, stride: int) -> None:
    """Or does as the others would: a file system in memory has another in its place."""
    mode, libc = rig.ticket.isolation, syscalls._libc()
    assert "ran" in rig.run()
    started = steps = 0
    while True:
        error = KINDS_OF_ERROR[steps % len(KINDS_OF_ERROR)]
        number = 1 + stride * steps
        faults = Faults(libc, number, error)
        said = rig.run(faults)
        steps += 1
        started += "ran" in said
        assert not said or not fault_of(said, mode), (number, os.strerror(error), said)
        if not faults.fired:
            break
    assert "ran" in said
    assert number > 100
    assert started < steps
