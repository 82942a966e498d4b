"""An engine in memory that answers half, and launchers on its nodes, which tests move on."""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from footplate.backends.engine import EngineBackend, LauncherSettings
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.engine import (
    EngineJob,
    EngineRefused,
    EngineTask,
    EngineUnavailable,
    JobPhase,
    NodeState,
)
from footplate.backends.engine.launcher_calls import LauncherCalls
from footplate.backends.engine.launcher_tokens import LauncherTokens
from footplate.domain.launchers import LauncherReport, LauncherState
from footplate.ports.backend import EndCause
from footplate.ports.engines import EngineReport
from footplate.protocol.ticket import SupervisorTicket

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from footplate.backends.engine.engine import JobRequest, LauncherRequest
    from footplate.ports.launchers import Launchers

LEASE_S = 60.0
KILL_TURNS = 3
UP_S = 1000.0
"""How long nodes are up when their launchers call first."""


def make_backend(
    region: str, root: Path, engine: FakeEngine, monotonic: Callable[[], float] = time.monotonic
) -> tuple[EngineBackend, LauncherCalls]:
    """A backend above the engine, and what its launchers call."""
    tokens = LauncherTokens(b"a key")
    calls = LauncherCalls(tokens, {region: AttemptFiles(root)}, {region: SupervisorTicket}, {})
    backend = EngineBackend(
        name=region,
        service="x",
        engine=engine,
        settings=LauncherSettings(lambda: "http://127.0.0.1:1", lambda: "", "0", "0"),
        tokens=tokens,
        calls=calls,
        poll_s=0.01,
        monotonic=monotonic,
    )
    return backend, calls


def tokens_of(program: bytes) -> dict[str, str]:
    """Those of the launchers, by replica, in the program that ``EngineBackend`` composes."""
    call = program.decode().rstrip().splitlines()[-1]
    text = call.removeprefix("main(json.loads(").removesuffix("))")
    config = json.loads(eval(text, {"__builtins__": {}}))  # noqa: S307  a string literal of ours
    return {each["replica"]: each["token"] for each in config["replicas"]}


@dataclass
class FakeLauncher:
    """One on a node: ``live`` while a program runs, ``starts`` are all that it has started."""

    replica: str
    token: str
    job: str
    node: str
    incarnation: str
    answered_s: float
    reachable: bool = True
    restart: int = -1
    state: LauncherState = LauncherState.IDLE
    ending: str = ""
    left: bool = False
    stopping: bool = False
    frozen: bool = False
    """Its engine has suspended it: it does nothing at all."""

    boot_id: str = ""
    late: int = 0
    """How many looks its engine takes to end it, after its node is back."""
    starts: list[int] = field(default_factory=list)
    warm: str = ""
    """What it waits with for another replica, when it may leave its own."""
    let_go: Callable[[], None] | None = None
    """Ends the call that it holds while it waits."""

    @property
    def live(self) -> bool:
        return self.state is LauncherState.LIVE

    def report(self) -> LauncherReport:
        return LauncherReport(
            self.incarnation,
            self.job,
            self.node,
            self.restart,
            self.state,
            ending=self.ending,
            stopping=self.stopping,
            boot_id=self.boot_id,
            up_s=UP_S,
        )

    def end(self, reason: str) -> None:
        """Whatever the server says: its program is ended, and then it leaves."""
        self.ending = self.ending or reason
        self._end_program()
        self.left = True
        self._hang_up()

    def exit(self) -> None:
        """Its program ends by itself."""
        self._end_program()

    def kill(self) -> None:
        """It dies with its program, and reports nothing."""
        self._end_program()
        self.left = True
        self._hang_up()

    def _end_program(self) -> None:
        if self.live:
            self.state = LauncherState.GONE

    def call(self, server: Launchers, now_s: float) -> None:
        """Report, and do what is wanted; without an answer for the lease end the program."""
        if self.frozen:
            return
        if not self.reachable:
            if not self.left and now_s - self.answered_s > LEASE_S:
                self.end("the server has not answered")
            return
        if self.left:
            return
        self.answered_s = now_s
        answer = server.exchange(self.token, self.report())
        if answer.leave:
            self._leave(server)
        elif answer.serve:
            self._hang_up()
            self.token, self.replica = answer.serve, answer.serve.split("/")[3]
        elif answer.run is not None and answer.run.restart > self.restart and not self.live:
            self.restart, self.stopping = answer.run.restart, answer.stop
            self.warm = answer.run.warm
            self.state = LauncherState.GONE if answer.stop else LauncherState.LIVE
            if not answer.stop:
                self.starts.append(self.restart)
        elif answer.stop:
            self.stopping = True
            self._end_program()

    def _leave(self, server: Launchers) -> None:
        """If its replica has ended by itself, nothing of it goes on but its job, and it waits for
        another replica.
        """
        if self.live or not self.warm or self.token == self.warm:
            self.kill()
            return
        self.token, self.incarnation = self.warm, f"{self.incarnation}+"
        self.restart, self.state, self.stopping, self.starts = -1, LauncherState.IDLE, False, []
        self.let_go = server.hold(self.token, lambda: None)
        server.exchange(self.token, self.report())

    def _hang_up(self) -> None:
        if self.let_go is not None:
            self.let_go()
            self.let_go = None


class FakeEngine:
    """``down``: it answers nobody. ``loses_answer``: the next submit is done, and says it failed.

    ``tells_lost``: it says of a job that a node of it was away at its end.
    ``hidden`` are jobs that its lists leave out, ``forgotten`` those that it doesn't know any more.
    """

    title = "the engine"
    oddities: tuple[str, ...] = ()
    rank_variable = "RANK"
    job_variable = "JOB"
    node_variable = "NODE"

    def __init__(self) -> None:
        self.down = False
        self.loses_answer = False
        self.refuses = ""
        self.tells_lost = False
        self.looks = 0
        """How often it was asked for its jobs."""
        self.hidden: set[str] = set()
        self.forgotten: set[str] = set()
        self.forged: set[str] = set()
        self.jobs: dict[str, EngineJob] = {}
        self.programs: dict[str, bytes] = {}
        self.limits: dict[str, float] = {}
        self.time_s = 1e6
        """The limit of its jobs."""
        self.words: dict[str, str] = {}
        """What jobs have written last, by their ids."""
        self.requests: builtins.list[JobRequest] = []
        self.launchers: builtins.list[FakeLauncher] = []
        self.nodes: dict[str, NodeState] = {}
        """What it knows of nodes; whether they answer is that of their launchers."""
        self._told_silent: set[str] = set()
        self._numbers = itertools.count(1)

    # What the backend calls.

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:
        return None

    def submit(self, request: JobRequest) -> str:
        self._answer()
        if self.refuses:
            raise EngineRefused(self.refuses)
        job_id = str(next(self._numbers))
        self.jobs[job_id] = EngineJob(job_id, request.name, JobPhase.WAITING)
        self.programs[job_id] = request.program
        self.limits[job_id] = request.limit_s
        self.requests.append(request)
        if self.loses_answer:
            self.loses_answer = False
            raise EngineUnavailable("the connection was reset")
        return job_id

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        self._answer()
        return f"{launcher.replica} ran {len(program)} bytes"

    def cancel(self, job_id: str) -> None:
        self._answer()
        if job_id in self.jobs and job_id not in self.forgotten:
            self.end_job(job_id, EndCause.CANCELLED)

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        self._answer()
        self.looks += 1
        left_out = self.hidden | self.forgotten
        # A copy: another region's thread may submit a job meanwhile.
        ours = [job for job in tuple(self.jobs.values()) if job.name.startswith(prefix)]
        return tuple(job for job in ours if job.id not in left_out)

    def find(self, job_id: str) -> EngineJob | None:
        self._answer()
        return None if job_id in self.forgotten else self.jobs.get(job_id)

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        self._answer()
        silent = {each.node for each in self.launchers if not each.reachable}
        found = tuple(name for name in nodes.split(",") if name in silent)
        self._told_silent.update(found)
        return found

    def may_be_of(self, job_id: str, project: str) -> bool:
        return job_id not in self.forged

    def explain(self, job: EngineJob) -> EngineJob:
        self._answer()
        words = self.words.get(job.id)
        return replace(job, reason=f"{job.reason}: {words}") if words else job

    def node_states(self, names: Sequence[str]) -> tuple[NodeState, ...]:
        self._answer()
        away = {each.node for each in self.launchers if not each.reachable}
        known = [self.nodes[name] for name in names if name in self.nodes]
        return tuple(replace(each, silent=each.name in away) for each in known)

    def check(self) -> EngineReport:
        return EngineReport(reachable=not self.down)

    def _answer(self) -> None:
        if self.down:
            raise EngineUnavailable("it is down")

    # What happens on its nodes.

    def begin_job(self, job_id: str, now_s: float) -> None:
        """Start a launcher for each rank, each on a node of its own."""
        job, tokens = self.jobs[job_id], tokens_of(self.programs[job_id])
        for replica, token in tokens.items():
            node = f"node-{job_id}-{replica}"
            incarnation, boot_id = f"{job_id}/{replica}", f"the first of {node}"
            self.nodes[node] = NodeState(node, boot_id=boot_id)
            self.launchers.append(
                FakeLauncher(replica, token, job_id, node, incarnation, now_s, boot_id=boot_id)
            )
        nodes = ",".join(self.nodes_of(job_id))
        self.jobs[job_id] = replace(
            job, phase=JobPhase.RUNNING, nodes=nodes, started_s=now_s, ends_s=now_s + self.time_s
        )

    def nodes_of(self, job_id: str) -> tuple[str, ...]:
        return tuple(each.node for each in self.of(job_id))

    def of(self, job_id: str) -> tuple[FakeLauncher, ...]:
        return tuple(each for each in self.launchers if each.job == job_id)

    def end_job(self, job_id: str, cause: EndCause = EndCause.UNKNOWN) -> None:
        """On the nodes that it reaches; on the others launchers go on."""
        for launcher in self.of(job_id):
            if launcher.reachable:
                launcher.end("the engine ends its job")
        if self.jobs[job_id].phase is not JobPhase.ENDED:
            reason = "it failed" if cause is EndCause.UNKNOWN else f"it ended: {cause.value}"
            lost = self.tells_lost and not all(each.reachable for each in self.of(job_id))
            self.jobs[job_id] = replace(
                self.jobs[job_id],
                phase=JobPhase.ENDED,
                reason=reason,
                cause=cause,
                lost=lost,
            )

    def say(self, launcher: FakeLauncher, task: EngineTask) -> None:
        """From now on the engine says this of the launcher."""
        job, rank = self.jobs[launcher.job], self.of(launcher.job).index(launcher)
        tasks = [*(job.tasks or (EngineTask(),) * len(self.of(job.id)))]
        tasks[rank] = task
        self.jobs[job.id] = replace(job, tasks=tuple(tasks))

    def reach(self, launcher: FakeLauncher, *, reachable: bool) -> None:
        """When a node is back, its engine ends there what has ended elsewhere: later, if that has
        said that it was away.
        """
        launcher.reachable = reachable
        job = self.jobs[launcher.job]
        if reachable and job.phase is JobPhase.ENDED:
            launcher.late = KILL_TURNS if job.lost or launcher.node in self._told_silent else 0
            self._end_late(launcher)

    def _end_late(self, launcher: FakeLauncher) -> None:
        if launcher.late:
            launcher.late -= 1
        else:
            launcher.end("the engine ended its job")

    def crash(self, launcher: FakeLauncher) -> None:
        """Its node is away, and all that ran there has ended; the engine doesn't know it."""
        launcher.kill()
        launcher.reachable = False

    def boot(self, launcher: FakeLauncher) -> None:
        """Its node, which has crashed, is back."""
        launcher.reachable = True
        self.nodes[launcher.node] = replace(self.nodes[launcher.node], boot_id="the second")

    def settle(self) -> None:
        """Jobs end whose launchers have all left, and launchers whose jobs have ended."""
        for launcher in self.launchers:
            ended = self.jobs[launcher.job].phase is JobPhase.ENDED
            if ended and launcher.reachable and not launcher.left:
                self._end_late(launcher)
        for job in tuple(self.jobs.values()):
            launchers = self.of(job.id)
            if job.phase is JobPhase.RUNNING and all(each.left for each in launchers):
                self.end_job(job.id)
