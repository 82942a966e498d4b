"""Containment mode ``container``: the engine runs the program in a container.

Guarantee: the engine kills all of it and removes what it wrote. Where the engine doesn't answer,
the container's first process is killed, and the kernel kills all others of its process namespace
with it. What the engine still keeps of it then, the server has removed later.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress

from footplate.containers.engine_api import Engine, EngineError, EngineGone
from footplate.replica.container.guard_start import guard_name
from footplate.replica.container.runner import Runner
from footplate.replica.isolation import levels, syscalls
from footplate.replica.isolation.containment import KILL_TIMEOUT_S, Child, Containment, ProcessSet
from footplate.replica.isolation.procfs import Process, find_below, is_alive, kill
from footplate.replica.isolation.spawn import begin_session, close_all_but, spawn
from footplate.replica.isolation.subreaper import sweep_marked
from footplate.replica.program_output import Stream

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.isolation.spawn import Launch

_INTERVAL_S = 0.01


class EngineContainment(Containment):
    level = levels.CONTAINER
    thorough = True

    def __init__(self, socket: str, mark: str) -> None:
        """Prepares a containment at the engine's ``socket``. All processes and containers of it
        have ``mark`` in their environment.
        """
        self._engine = Engine(socket, KILL_TIMEOUT_S)
        self._mark = mark
        self._container = f"footplate-{mark[:20]}"
        self._created = False
        self._guarded = False
        self._child: Child | None = None
        self._init: Process | None = None
        self._status: Stream | None = None
        self._told: dict[str, Any] = {}
        self.workdir = ""
        """Where the files lie on the host that the program writes to its working directory."""

    @classmethod
    def reopen(cls, record: IsolationRecord) -> EngineContainment:
        """Returns the containment of a dead supervisor, from the record that its ``fill`` wrote."""
        containment = cls(record.engine, record.mark)
        containment._created, containment._guarded = record.created, record.guarded
        if record.init:
            containment._init = Process(record.init, 0, record.start, zombie=False)
        return containment

    def start(self, launch: Launch, view: MountNamespace | None) -> Child:
        """Starts the process that prepares the image; it runs outside the container."""
        self._child = super().start(launch, view)
        return self._child

    @property
    def names(self) -> tuple[str, str]:
        """The names of the engine's socket and of the container."""
        return self._engine.path, self._container

    def promise(self, *, guarded: bool = False) -> None:
        """Notes that a container is about to be made, so that the record names it from now on."""
        self._created = True
        self._guarded = guarded

    def run(
        self,
        spec: dict[str, Any],
        stdout: int,
        stderr: int,
        first_id: int = 0,
        guard: dict[str, Any] | None = None,
    ) -> Child:
        """Creates and starts the container in a separate process; ``status`` reports progress.

        ``first_id`` is the id of the user that the image's root is mapped to; 0 leaves that to the
        engine. ``guard`` is the body of the request that creates the container's guard, if any.
        Raises SpawnFailed, OSError if no process can be started.
        """
        self._told = {}
        status = self._status = Stream(self._take)
        parent = os.getpid()

        def body(ready: int) -> None:
            close_all_but({ready, stdout, stderr, status.writing})
            syscalls.die_with_parent(signal.SIGKILL)
            # The supervisor may have died before prctl: no signal comes then.
            if os.getppid() != parent:
                os._exit(1)
            begin_session()
            os.close(ready)
            outputs = stdout, stderr, status.writing
            engine = Engine(self._engine.path)
            Runner(engine, self._container, *outputs, first_id, guard).run(spec)

        try:
            self._child = Child(spawn(body))
        finally:
            status.hand_over()
        return self._child

    @property
    def status(self) -> Stream | None:
        """The output to read until ``started`` or ``error`` is set, or the process ends."""
        return self._status

    @property
    def started(self) -> bool:
        return "started" in self._told

    @property
    def first_id(self) -> int:
        """The id of the user that the image's root is mapped to, once the container has started; 0
        before.
        """
        return int((self._told.get("started") or {}).get("first_id") or 0)

    @property
    def unmapped(self) -> str:
        """The reason why the engine didn't map the image's users."""
        return str((self._told.get("started") or {}).get("unmapped") or "")

    @property
    def unguarded(self) -> str:
        """The reason why the container has no guard; '' if it has one, or needs none."""
        return str((self._told.get("started") or {}).get("unguarded") or "")

    @property
    def error(self) -> str:
        """The engine's own message why it would not start the container."""
        return str(self._told.get("error") or "")

    @property
    def fault(self) -> str:
        """The event that ended the program from outside, if that is known."""
        self._read_status()
        return str(self._told.get("fault") or "")

    def kill(self) -> bool:
        killed = self._kill_child()
        if not self._created or self._has_ended():
            return killed
        try:
            self._end_container()
        except EngineError as error:
            return killed and error.status == 404
        except EngineGone:
            return self._kill_without_engine() and killed
        return killed

    def close(self) -> None:
        """Removes the container; if the engine is away, the server removes it later."""
        if self._status is not None:
            self._status.close()
        self.discard()

    def discard(self) -> None:
        """Frees the disk space of files that the program wrote in its container. Never raises."""
        if not self._created:
            return
        try:
            self._engine.remove(self._container)
            if self._guarded:
                with suppress(EngineError):  # it removes itself
                    self._engine.remove(guard_name(self._container))
            self._created = False
        except (EngineError, EngineGone):
            return

    def family(self, child: Child) -> ProcessSet:  # noqa: ARG002  its runner isn't the program's
        init = self._init
        return ProcessSet([] if init is None else [init.pid, *find_below(init.pid)])

    def oom_kills(self) -> int | None:
        self._read_status()
        if not self._told.get("ended"):
            return 0 if self._told.get("started") else None
        return int(self._told["oom_kills"]) if self._told.get("counted") else None

    def refused_processes(self) -> int | None:
        self._read_status()
        refused = self._told.get("refused")
        return None if refused is None else int(refused)

    def fill(self, record: IsolationRecord) -> None:
        record.engine, record.container = self.names
        record.created, record.guarded = self._created, self._guarded
        if self._init is not None:
            record.init, record.start = self._init.pid, self._init.start

    def _take(self, lines: list[str]) -> None:
        for line in filter(None, lines):
            self._told.update(json.loads(line))
        found = self._told.get("started")
        if not found:
            return
        self.workdir = str(found["workdir"])  # also of a program that has ended by now
        self.written = str(found.get("written") or "")
        if found["pid"]:
            self._init = Process(found["pid"], 0, found["start"], zombie=False)
            self.groups = [str(group) for group in found["groups"]]

    def _read_status(self) -> None:
        status = self._status
        while status is not None and status.open and status.read():
            continue

    def _has_ended(self) -> bool:
        self._read_status()
        return bool(self._told.get("ended"))

    def _kill_child(self) -> bool:
        """Kills the process group of the child: the one that prepares the image has children."""
        if self._child is not None and not self._child.reaped:
            try:
                os.killpg(self._child.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return True
        return True

    def _end_container(self) -> None:
        """Kills the container, and waits until it doesn't run. Raises EngineError, EngineGone."""
        try:
            self._engine.signal(self._container, "KILL")
        except EngineError as error:
            if error.status == 404:
                return
        end = time.monotonic() + KILL_TIMEOUT_S
        while (self._engine.inspect(self._container).get("State") or {}).get("Running"):
            if time.monotonic() >= end:
                raise EngineError(408, "it still runs")
            time.sleep(_INTERVAL_S)

    def _kill_without_engine(self) -> bool:
        """Kills the container's first process and all marked processes; returns False if some are
        still alive.
        """
        clean = sweep_marked(self._mark)
        if self._init is None:
            return clean
        kill(self._init)
        end = time.monotonic() + KILL_TIMEOUT_S
        while is_alive(self._init):
            if time.monotonic() >= end:
                return False
            time.sleep(_INTERVAL_S)
        return clean
