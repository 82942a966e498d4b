"""The process beside a container: starts it, forwards its output, exits as its program did.

    supervisor ── runner ──(the engine's socket)── container

It is a fork of the supervisor, and dies with it. The supervisor treats it as the program: SIGTERM
to it becomes the image's stop signal, and its wait status is the program's.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from contextlib import suppress

from footplate.containers.engine_api import EngineError, EngineGone
from footplate.replica.container.guard_start import NoGuard, start_guard
from footplate.replica.isolation.cgroup_hierarchies import find_groups
from footplate.replica.isolation.procfs import find
from footplate.replica.isolation.users import CONTAINER_IDS
from footplate.safe_path import split

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from typing import Any, Sequence

    from footplate.containers.engine_api import Attachment, Engine
    from footplate.replica.container.guard_start import Guard


_FILES = ("memory.events", "memory.oom_control")
"""The file in the unified hierarchy, and in version 1."""
_NAME = b"oom_kill"


class OomCounter:
    """Counter of a group's kills for want of memory. It keeps its file open: to open it later may
    be too late.
    """

    files: Sequence[str] = _FILES
    name = _NAME

    def __init__(self, groups: Sequence[str]) -> None:
        self.kills = 0
        self._descriptor = _open(groups, self.files)

    @property
    def counts(self) -> bool:
        """Returns whether there is a counter; only then does a count of 0 mean that there was no
        kill.
        """
        return self._descriptor >= 0

    def read(self) -> None:
        """Reads the count; if the group is gone, the last count stays."""
        if self._descriptor < 0:
            return
        try:
            words = os.pread(self._descriptor, 4096, 0).split()
            self.kills = max(self.kills, int(words[words.index(self.name) + 1]))
        except (OSError, ValueError, IndexError):  # the advice is missing
            return


class RefusalCounter(OomCounter):
    """Counter of processes that were refused: ``kills`` grows when one would exceed their limit."""

    files = ("pids.events",)
    name = b"max"


def _open(groups: Sequence[str], names: Sequence[str]) -> int:
    for group in groups:
        for name in names:
            try:
                return os.open(os.path.join(group, name), os.O_RDONLY | os.O_CLOEXEC)
            except OSError:  # the advice is missing
                continue
    return -1


MAPPING_RUNTIME = "crun"
"""The OCI runtime that knows id-mapped mounts as Podman writes them."""
FAILED = 1
SIGNALLED = 128
"""What engines add to the number of the signal that ended a program."""
_DEFAULT_STOP = "SIGTERM"
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.1
_END_LIMIT_S = 60.0
"""How long the engine may take to tell the exit code of a container that prints no more."""


class Runner:
    def __init__(
        self,
        engine: Engine,
        name: str,
        stdout: int,
        stderr: int,
        status: int,
        first_id: int = 0,
        guard: dict[str, Any] | None = None,
    ) -> None:
        """Prepares the runner of the container ``name``.

        ``status`` is the descriptor for JSON lines that the supervisor reads. ``first_id`` is the
        id on this machine of the user that the image's root is mapped to, if not root itself.
        ``guard`` is the specification of the container's guard, if it is to have one.
        """
        self._engine = engine
        self._name = name
        self._outputs = {1: stdout, 2: stderr}
        self._status = status
        self._first_id = first_id
        self._unmapped = ""
        self._guard_spec = guard
        self._guard: Guard | None = None
        self._unguarded = ""
        self._stop_signal = _DEFAULT_STOP
        self._stopping = False
        self._started = False
        self._oom = OomCounter([])
        self._refusals = RefusalCounter([])
        self._pidfd = -1

    def run(self, spec: dict[str, Any]) -> None:
        """Runs the container, and ends this process as the program ended; never returns."""
        signal.signal(signal.SIGTERM, self._stop)
        try:
            attachment = self._start(spec)
            self._pass_output(attachment)
            status = self._conclude()
        except EngineGone as error:
            self._notify({"fault": f"the container engine no longer answers: {error}"})
            status = SIGNALLED + signal.SIGKILL
        except EngineError as error:
            self._notify({"error": str(error)})
            status = FAILED
        except OSError as error:  # the reader of the output is gone
            self._notify({"fault": f"the supervisor can't read the container's output: {error}"})
            status = SIGNALLED + signal.SIGKILL
        end_as(status)

    def _start(self, spec: dict[str, Any]) -> Attachment:
        """Starts the container and returns the connection to its output. Raises EngineError,
        EngineGone.
        """
        engine, name = self._engine, self._name
        self._start_guard()
        self._create(spec)
        details = engine.inspect(name)
        config = details.get("Config") or {}
        if _lacks_home(config) and not engine.has_home(name, str(config["User"])):
            engine.remove(name)
            spec["Env"].append("HOME=/tmp")
            self._create(spec)
            details = engine.inspect(name)
        self._stop_signal = str(config.get("StopSignal") or _DEFAULT_STOP)
        # Before the start: what a program printed before the connection would be lost.
        attachment = engine.attach(name)
        engine.start(name)
        self._started = True
        self._tell_start(details)
        # A SIGTERM that came earlier had no container to go to: ``_stop`` has only noted it.
        if self._stopping:
            self._pass_stop()
        return attachment

    def _start_guard(self) -> None:
        """Starts the guard before the container, so that the container never runs without it.
        Raises EngineGone.
        """
        if self._guard_spec is None:
            return
        try:
            self._guard = start_guard(self._engine, self._name, self._guard_spec)
        except NoGuard as error:
            self._unguarded = str(error)

    def _create(self, spec: dict[str, Any]) -> None:
        """Creates the container, with the image's users mapped if possible. Raises EngineError,
        EngineGone.
        """
        if self._first_id:
            self._unmapped = self._create_mapped(spec)
            if not self._unmapped:
                return
            self._engine.remove(self._name)
            self._first_id = 0
        self._engine.create(self._name, spec)

    def _create_mapped(self, spec: dict[str, Any]) -> str:
        """Creates the container with mapped users; returns why this machine's runtime can't map
        users, '' if it can.

        Raises EngineError, EngineGone if it can, but fails.
        """
        self._engine.create(self._name, spec, self._first_id, CONTAINER_IDS)
        runtime = self._engine.find_runtime(self._name)
        return "" if runtime == MAPPING_RUNTIME else f"{runtime} can't, and {MAPPING_RUNTIME} can"

    def _tell_start(self, details: dict[str, Any]) -> None:
        pid = int((self._engine.inspect(self._name).get("State") or {}).get("Pid") or 0)
        process = find(pid) if pid else None
        groups = [] if process is None else find_groups(pid)
        self._oom = OomCounter(groups)
        self._refusals = RefusalCounter(groups)
        if process is not None:
            try:
                self._pidfd = os.pidfd_open(pid)
            except (OSError, AttributeError):  # Python 3.8 has none
                self._pidfd = -1
        start = 0 if process is None else process.start
        written = (details.get("GraphDriver") or {}).get("Data") or {}
        workdir = str((details.get("Config") or {}).get("WorkingDir") or "/")
        upper = str(written.get("UpperDir") or "")
        self._notify(
            {
                "started": {
                    "pid": pid if start else 0,
                    "start": start,
                    "groups": groups,
                    "workdir": find_inside(upper, workdir) if upper else "",
                    "written": upper,
                    "first_id": self._first_id,
                    "unmapped": self._unmapped,
                    "unguarded": self._unguarded,
                }
            }
        )

    def _pass_output(self, attachment: Attachment) -> None:
        """Passes output on until the container ends. A full pipe holds the program back."""
        poller = select.poll()
        poller.register(attachment, select.POLLIN)
        if self._pidfd >= 0:
            poller.register(self._pidfd, select.POLLIN)
        if self._guard is not None:
            poller.register(self._guard, select.POLLIN)
        while True:
            own = attachment.fileno()
            ready = [own] if attachment.has_early else [fd for fd, _ in poller.poll()]
            if self._guard is not None and self._guard.fileno() in ready:
                self._look_at_guard(poller)
            if self._pidfd in ready:  # its control group is still there for a moment
                self._oom.read()
                self._refusals.read()
                poller.unregister(self._pidfd)
                self._pidfd = -1
            if own not in ready:
                continue
            pieces = attachment.read()
            if pieces is None:
                return
            for stream, piece in pieces:
                _write(self._outputs.get(stream, self._outputs[1]), piece)

    def _look_at_guard(self, poller: select.poll) -> None:
        """Kills the container if its guard has ended: the process that would remove the container
        if the supervisor died. Raises EngineGone.
        """
        if self._guard is None or not self._guard.has_ended():
            return
        poller.unregister(self._guard)
        self._guard.close()
        self._guard = None
        self._notify({"fault": "the process that guards the container has ended"})
        with suppress(EngineError):  # the container has ended, too
            self._engine.signal(self._name, "KILL")

    def _conclude(self) -> int:
        """Returns the program's exit code, once the engine reports it. Raises EngineError,
        EngineGone.
        """
        self._oom.read()
        self._refusals.read()
        pause_s, end = _FIRST_PAUSE_S, time.monotonic() + _END_LIMIT_S
        while True:
            state = self._engine.inspect(self._name).get("State") or {}
            if not state.get("Running") and state.get("Status") not in ("running", "stopping"):
                break
            if time.monotonic() >= end:
                raise EngineGone("the engine closed its connection to a container that still runs")
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
        kills = max(self._oom.kills, 1 if state.get("OOMKilled") else 0)
        refused = self._refusals.kills if self._refusals.counts else None
        counted = self._oom.counts or bool(kills)
        self._notify({"ended": True, "oom_kills": kills, "counted": counted, "refused": refused})
        return int(state.get("ExitCode") or 0)

    def _stop(self, *_: object) -> None:
        self._stopping = True
        if self._started:
            self._pass_stop()

    def _pass_stop(self) -> None:
        try:
            self._engine.signal(self._name, self._stop_signal)
        except (EngineError, EngineGone):  # it has ended, or the supervisor will kill it
            return

    def _notify(self, value: dict[str, Any]) -> None:
        try:
            _write(self._status, json.dumps(value).encode() + b"\n")
        except OSError:  # the supervisor is dead
            return


def end_as(status: int) -> None:
    """Ends this process with the exit code ``status``; if a signal ended the program, ``status`` is
    128 more than its number, and the same signal ends this process.
    """
    number = status - SIGNALLED
    if 0 < number < signal.NSIG:
        try:
            # Else this process would leave a core dump of its own, beside that of the program.
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        except (OSError, ValueError):  # it ends by exit
            pass
    os._exit(status & 255)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def find_inside(top: str, path: str) -> str:
    """Returns where the image's absolute path lies below ``top``; steps up (``..``) can't lead out
    of ``top``.
    """
    return os.path.join(os.path.realpath(top), *split(os.path.normpath(f"/{path}")))


def _lacks_home(config: dict[str, Any]) -> bool:
    """Returns whether the image has a user of its own and doesn't say where its home is."""
    user = str(config.get("User") or "").partition(":")[0]
    if user in ("", "0", "root"):
        return False
    return not any(str(entry).startswith("HOME=") for entry in config.get("Env") or ())
