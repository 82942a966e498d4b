"""Faults for the jobs of a service on this machine, as a test asks for them."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Self

from footplate.testing.faults.fault import Fault, FaultAction, Trigger
from footplate.testing.faults.fault_scheduler import Watch
from footplate.testing.faults.processes import (
    await_end,
    find_everything,
    find_program,
    find_supervisor,
    find_tree,
    send,
)
from footplate.testing.faults.service_location import find_place

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from footplate.replica.isolation.procfs import Process
    from footplate.testing.faults.service_location import ServiceLike

POLL_INTERVAL_S = 0.05
"""How often the injector looks whether a fault is due."""


class FaultInjector:
    """Kills, freezes and loses replicas of jobs, to test how trainers handle this.

        with running_service(tmp_path / "service") as service, FaultInjector(service) as faults:
            faults.kill("workerpool1-0", after_lines=50)
            ...  # submit a job, and wait for its end

    Every fault is for one job: the one that ``job`` names (its resource name or its id), or else
    the next one that starts. A fault may be planned before that job is submitted, or while it runs.

    A fault occurs as soon as the program runs, unless ``after_lines`` or ``after_s`` name a later
    time. It occurs once or, with ``times``, once in each of so many starts of the replica.
    ``after_lines`` counts the lines that the replica has printed since its start, in the job's log:
    the program may be some lines further. ``after_s`` counts from the program's start.

    At its end, the block checks that every fault has occurred, unless an exception was raised, and
    continues frozen processes. Linux only.
    """

    def __init__(self, service: ServiceLike, token: str | None = None) -> None:
        """Creates the injector. ``token`` is the service's, if it requires one that isn't the
        test's own.

        Raises:
            ValueError: the service has no data on this machine.
        """
        self._watch = Watch(find_place(service, token))
        self._faults: list[Fault] = []
        self._frozen: dict[str, list[Process]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        if error is None:
            self.assert_fired()

    def close(self) -> None:
        """Ends all faults: none occurs from here on, and frozen processes continue."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self.thaw()

    def kill(
        self,
        replica: str,
        *,
        after_lines: int | None = None,
        after_s: float | None = None,
        times: int = 1,
        signal: signal.Signals = signal.SIGKILL,
        job: str | None = None,
    ) -> Fault:
        """Sends ``signal`` to the first process of the replica's program, and to no other.

        After a signal from outside, such as SIGKILL or SIGTERM, a replica counts as lost, and is
        restarted. SIGSEGV, SIGABRT and the like count as failures of the program.
        """

        def remove_server(home: Path) -> list[Process]:
            program = find_program(home)
            victims = [] if program is None else [program]
            send(signal, victims)
            return victims

        action = FaultAction(f"{signal.name} to", remove_server)
        return self._plan(replica, Trigger(after_lines, after_s), action, times, job)

    def stop_machine(
        self,
        replica: str,
        *,
        after_lines: int | None = None,
        after_s: float | None = None,
        times: int = 1,
        job: str | None = None,
    ) -> Fault:
        """Simulates the loss of the replica's machine: its supervisor and program die at once.

        Without ``after_lines`` and ``after_s`` this occurs as soon as the replica has a machine,
        before its program starts.
        """
        action = FaultAction("the loss of the machine of", _lose, to_machine=True)
        return self._plan(replica, Trigger(after_lines, after_s), action, times, job)

    def freeze(
        self,
        replica: str,
        *,
        after_lines: int | None = None,
        after_s: float | None = None,
        times: int = 1,
        job: str | None = None,
    ) -> Fault:
        """Freezes the program and its children with SIGSTOP: they are alive, but hang."""

        def remove_server(home: Path) -> list[Process]:
            program = find_program(home)
            return self._freeze(replica, [] if program is None else find_tree(program))

        action = FaultAction("the freezing of", remove_server)
        return self._plan(replica, Trigger(after_lines, after_s), action, times, job)

    def freeze_machine(
        self,
        replica: str,
        *,
        after_lines: int | None = None,
        after_s: float | None = None,
        times: int = 1,
        job: str | None = None,
    ) -> Fault:
        """Freezes the replica's machine: it isn't lost, but doesn't answer.

        This stops its supervisor and its program, but not the build of an environment, which serves
        others too. Without ``after_lines`` and ``after_s`` it occurs as soon as the replica has a
        machine, before its program starts.
        """

        def remove_server(home: Path) -> list[Process]:
            supervisor, program = find_supervisor(home), find_program(home)
            standing = [] if supervisor is None else [supervisor]
            return self._freeze(replica, standing + ([] if program is None else find_tree(program)))

        action = FaultAction("the freezing of the machine of", remove_server, to_machine=True)
        return self._plan(replica, Trigger(after_lines, after_s), action, times, job)

    def thaw(self, replica: str | None = None) -> None:
        """Continues the frozen processes of the replica; of all replicas if none is named."""
        with self._lock:
            for name in [replica] if replica is not None else list(self._frozen):
                send(signal.SIGCONT, self._frozen.pop(name, ()))

    def assert_fired(self) -> None:
        """Checks that each fault has occurred at least once.

        Raises:
            AssertionError: some faults haven't occurred; the message says which, and why.
        """
        missing = []
        for fault in self._faults:
            try:
                fault.assert_fired()
            except AssertionError as error:
                missing.append(str(error))
        if missing:
            raise AssertionError("\n".join(missing))

    def _plan(
        self, replica: str, trigger: Trigger, action: FaultAction, times: int, job: str | None
    ) -> Fault:
        """Plans a fault."""
        if times < 1:
            raise ValueError(f"times={times} given; allowed: 1 or more")
        if self._closed.is_set():
            raise ValueError("this injector is closed; make another one")
        fault = Fault(replica, trigger, action, times, job, self._watch.started())
        self._watch.bind([fault])
        if fault.over:
            raise ValueError(fault.trouble)
        self._faults.append(fault)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="faults", daemon=True)
            self._thread.start()
        return fault

    def _freeze(self, replica: str, processes: list[Process]) -> list[Process]:
        send(signal.SIGSTOP, processes)
        with self._lock:
            self._frozen.setdefault(replica, []).extend(processes)
        return processes

    def _run(self) -> None:
        while not self._closed.wait(POLL_INTERVAL_S):
            waiting = [fault for fault in list(self._faults) if fault.waits]
            try:
                if waiting:
                    self._watch.inspect(waiting)
            except Exception as error:
                for fault in waiting:
                    fault.give_up(repr(error))
                raise


def _lose(home: Path) -> list[Process]:
    """Kills supervisor and program; freezes the supervisor first, so that it can't report the
    program's death.
    """
    supervisor = find_supervisor(home)
    if supervisor is None:
        return []
    send(signal.SIGSTOP, [supervisor])
    everything = find_everything(home)
    send(signal.SIGKILL, [*everything[1:], supervisor])
    await_end(everything)
    return everything
