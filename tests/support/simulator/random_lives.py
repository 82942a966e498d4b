"""Let a world live as a seed decides, then bring it to rest."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from typing import TYPE_CHECKING

from footplate.control.job_updates import apply
from footplate.control.work_queue import SWEEP_S
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.jobs import (
    DEFAULT_RUNNING_TIME_S,
    Exit,
    ExitKind,
    JobEvent,
    MachineSpec,
    Scheduling,
)
from footplate.domain.lifecycle import CancelRequested, HangExpired
from footplate.domain.lifecycle.replica_losses import ECHO_S, is_loss
from footplate.domain.names import parse_attempt_id
from footplate.ports.backend import EndCause, Presence
from tests.support.jobs import make_job, make_spec
from tests.support.simulator.capacity_checks import check_room
from tests.support.simulator.evaluator_grace import Graces
from tests.support.simulator.supervisor import ECHOES, Supervisor
from tests.support.simulator.time_limits import Limits
from tests.support.simulator.world import GRACE_S, OTHER_SITES, PROJECTS, SITE, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.names import AttemptId
    from tests.support.crashes import CrashPoint
    from tests.support.simulator.world import Service

ENDS = (
    Exit(ExitKind.EXITED, 0),
    Exit(ExitKind.EXITED, 0),
    Exit(ExitKind.EXITED, 1, "ValueError: bad"),
    Exit(ExitKind.SIGNALLED, 9),
    Exit(ExitKind.SIGNALLED, 11),
    Exit(ExitKind.UNPREPARED, 0, "no Python 3.7 here"),
    Exit(ExitKind.TIME_LIMIT),
    Exit(ExitKind.OUT_OF_MEMORY),
    None,
)
WELL = (ENDS[0],) * 12
"""Most programs do: else no gang would ever come to its end."""
MAX_WAIT_S = 1800.0
MACHINES = (
    MachineSpec("n1-standard-4"),
    MachineSpec("n1-standard-4"),
    MachineSpec("n1-standard-4", "NVIDIA_TESLA_T4", 1),
    MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2),
)
JUMPS_S = (-86_400.0, -3600.0, -30.0, 30.0, 3600.0, 86_400.0)
"""By how much somebody sets the clock."""
HANG_S = 600.0
REST = 10_000
"""More rounds than any world needs to come to rest."""


def live(seed: int, steps: int = 80, *, deaf: float = 0.0) -> World:
    """A world after ``steps`` random things, and then as many orderly ones as it takes to end.

    ``deaf``: so much of what a reconciler should hear is lost on its way.

    Raises:
        AssertionError: it doesn't come to rest.
    """
    life = _Life(random.Random(seed), deaf)
    for _ in range(steps):
        life.step()
    life.come_to_rest()
    return life.world


class _Life:
    def __init__(self, rng: random.Random, deaf: float) -> None:
        """Where all is heard, nobody looks at what nothing was heard of: not a word may miss."""
        self.rng = rng
        self.world = World(sweep_s=SWEEP_S if deaf else math.inf)
        if deaf:
            self.world.loses_messages = lambda: self.rng.random() < deaf
        self.graces = Graces(self.world)
        self.limits = Limits(self.world)
        self.sites = (SITE, *OTHER_SITES) if rng.random() < 0.3 else (SITE,)
        self.jobs = 0
        self.world.meanwhile = self._meanwhile

    def step(self) -> None:
        """One random thing; the service may die over it."""
        if self.rng.random() < 0.3:
            self.world.crash_point.arm(self.rng.randrange(8))
        if self.rng.random() < 0.2:
            self.world.away.arm(self.rng.randrange(12))
        if self.rng.random() < 0.1:
            self.world.visit.arm(self.rng.randrange(6))
        self.rng.choice(self._things())()
        self._check()

    def _fuses(self) -> tuple[CrashPoint, ...]:
        world = self.world
        return world.crash_point, world.away, world.visit, world.takeover

    def _meanwhile(self) -> None:
        """Another server leads, while the one before it stands still in the middle of something.

        For as long as attempts may need from their start to their end.
        """
        for crash_point in self._fuses():
            crash_point.disarm()
        for _ in range(self.rng.randrange(12)):
            if self.rng.random() < 0.2:
                self.cancel()
            self.pass_()
            self._check()
            if self.rng.random() < 0.5:
                self.world.clock.advance(self.rng.choice([0.0, 1.0, 20.0]))
            self.work()
        check_room(self.world)

    def _check(self) -> None:
        check_room(self.world)
        self.graces.check()
        self.limits.check()

    def _things(self) -> list[Callable[[], object]]:
        ordinary = [self.submit, self.work, self.work, self.work, self.lead, self.lead]
        rare = [self.cancel, self.lose, self.preempt, self.echo, self.time_passes, self.kill]
        return [*ordinary, *ordinary, *rare]

    def come_to_rest(self) -> None:
        """No more faults: programs end, reports arrive, until nothing is left to do.

        Half of the worlds are told to cancel everything; in the others every job gets its turn.
        """
        for crash_point in self._fuses():
            crash_point.disarm()
        if self.world.site is not SITE:
            self.world.be_reborn(SITE)
        if self.rng.random() < 0.5:
            self.graces.cancelled.update(job.uid for job in self.world.store.active())
            self.world.attempt(lambda service: service.status.cancel_all())
        for _ in range(REST):
            self._check()
            if not self.world.store.active() and not self.world.backend.list():
                return
            self._go_on()
        raise AssertionError("the world does not come to rest")

    def _go_on(self) -> None:
        """One orderly round; where nobody does anything, time passes until the loop is due."""
        before = self._look()
        due_s = self.world.service.round.step()
        self._begin()
        for supervisor in list(self.world.supervisors.values()):
            self._hasten(supervisor)
            self._work(supervisor)
        if self._look() == before and not self._end_those_that_wait_in_vain():
            assert due_s is not None, "nothing will ever happen again"
            assert due_s <= GRACE_S, f"{due_s} s is longer than anybody may have to wait"
            self.world.clock.advance(due_s)

    def _end_those_that_wait_in_vain(self) -> bool:
        """As the hang watch does where a replica has failed, and whoever is left waits for it."""
        ended = False
        for job in self.world.store.active():
            live = [s for s in self.world.supervisors.values() if s.attempt_id == job.attempt_id]
            waits = live and all(s.stuck for s in live if not s.evaluates)
            if waits and job.ending is None and any(r.judged for r in job.replicas):
                event = HangExpired(self.world.clock.now(), job.attempt, HANG_S)
                apply(self.world.service.store, job.uid, event)
                ended = True
        return ended

    def _hasten(self, supervisor: Supervisor) -> None:
        """Programs that would run for ever end; evaluators fall silent, and run on."""
        if supervisor.end is None and supervisor.evaluates:
            supervisor.stuck |= supervisor.runs
        else:
            supervisor.end = supervisor.end or ENDS[0]

    def _look(self) -> object:
        """Whatever may change while time stands still."""
        supervisors = self.world.supervisors.values()
        reports = [(len(s.spool), s.acknowledged, s.stopping) for s in supervisors]
        jobs = [(job.uid, job.version) for job in self.world.store.active()]
        return reports, jobs, self.world.backend.list()

    def submit(self) -> None:
        self.jobs += 1
        wait_s = self.rng.choice([None, None, MAX_WAIT_S])
        run_s = self.rng.choice([DEFAULT_RUNNING_TIME_S, 300.0, 3000.0])
        limits = Scheduling(
            run_s,
            wait_s,
            priority=self.rng.randrange(3),
            max_restarts=self.rng.choice([0, 1, 5]),
            max_retries=self.rng.choice([0, 3]),
            restarts_together=self.rng.random() < 0.3,
        )
        workers = self.rng.choice([0, 0, 0, 1, 2, 5])
        spec = make_spec(
            workers=workers,
            evaluators=self.rng.choice([0, 0, 1]) if workers in (1, 2) else 0,
            machine=self.rng.choice(MACHINES),
            region=self.rng.choice(["us-central1", "europe-west4"]),
            scheduling=limits,
        )
        name = f"projects/{self.rng.choice(PROJECTS)}/jobs/job_{self.jobs}"
        job = make_job(name, uid=f"job{self.jobs}", created=self.world.clock.now(), spec=spec)
        queued = JobEvent(self.world.clock.now(), "QUEUED", "")
        self.world.attempt(lambda service: service.store.create(job, (queued,)))

    def lead(self) -> None:
        """A pass, in the middle of which another server may take the lead."""
        if self.rng.random() < 0.2:
            self.world.takeover.arm(self.rng.randrange(24))
        self.pass_()
        self.world.takeover.disarm()

    def pass_(self) -> None:
        self.world.attempt(lambda service: service.round.step())
        self._begin()

    def cancel(self) -> None:
        if active := self.world.store.active():
            uid = self.rng.choice(active).uid
            self.graces.cancelled.add(uid)
            event = CancelRequested(self.world.clock.now())
            self.world.attempt(lambda service: apply(service.store, uid, event))

    def kill(self) -> None:
        """The service dies while it does nothing."""
        self.world.be_reborn(self.rng.choice(self.sites))

    def time_passes(self) -> None:
        """Echoes of a loss come within seconds, and so before."""
        for supervisor in list(self.world.supervisors.values()):
            if supervisor.echo is not None:
                supervisor.proceed()
                self._deliver_for_certain(supervisor)
        self._check()
        if self.rng.random() < 0.2:
            self.world.clock.jump(self.rng.choice(JUMPS_S))
        else:
            self.world.clock.advance(self.rng.choice([1.0, 10.0, 60.0, 700.0, 2000.0]))

    def work(self) -> None:
        """Some programs go on; those of a gang do so side by side."""
        for supervisor in list(self.world.supervisors.values()):
            if self.rng.random() < 0.7:
                self._work(supervisor)

    def lose(self) -> None:
        """A supervisor dies; the sweep delivers some of what it left, then nothing is left."""
        if not self.world.supervisors:
            return
        supervisor = self.rng.choice(list(self.world.supervisors.values()))
        if not supervisor.ended:
            self._deliver(supervisor)
        if supervisor.delivered:
            if not supervisor.ended:
                self._shake(supervisor)
            if self.rng.random() < 0.5:
                self.world.backend.lose(*supervisor.key)
                self.pass_()
            self._leave(supervisor, "the replica's supervisor was lost")

    def preempt(self) -> None:
        """An engine takes a machine away: its supervisor ends the program if it has the time."""
        if not self.world.supervisors:
            return
        supervisor = self.rng.choice(list(self.world.supervisors.values()))
        if supervisor.ended or not supervisor.delivered or not supervisor.kept():
            return
        supervisor.preempted = True
        self._shake(supervisor)
        if self.rng.random() < 0.5:
            self._stop(supervisor)
            supervisor.proceed()
            self._deliver_for_certain(supervisor)
        if self.rng.random() < 0.5:
            self.pass_()
        self._leave(supervisor, "another job took its node", EndCause.PREEMPTED)

    def echo(self) -> None:
        """A report of a supervisor that is no more arrives once more, late."""
        if not self.world.history:
            return
        dead = self.rng.choice(self.world.history)
        batch = dead.kept()[-self.rng.randint(1, 3) :]
        with suppress(PermissionDenied):
            self.world.attempt(lambda service: service.reports.accept(dead.bearer, batch))

    def _begin(self) -> None:
        """Supervisors that were asked for come to life, or learn that they are to stop."""
        for observation in self.world.backend.list():
            key = (observation.attempt_id, observation.replica)
            if observation.presence is Presence.WAITING:
                self.world.backend.admit(*key)
                self.world.supervisors[key] = self._born(*key, observation.restart)
            elif key in self.world.supervisors and self.world.backend.is_stopping(*key):
                self._stop(self.world.supervisors[key])

    def _born(self, attempt_id: AttemptId, replica: str, restart: int) -> Supervisor:
        assert (attempt_id, replica) not in self.world.supervisors, "it lives already"
        job, _, attempt = attempt_id.rpartition("-")
        assert not any(
            other.attempt_id.startswith(f"{job}-") and other.attempt_id != attempt_id
            for other in self.world.supervisors.values()
        ), f"two attempts of one job live at once: {attempt} is one of them"
        supervisor = Supervisor(
            attempt_id,
            replica,
            lines=self.rng.randrange(6),
            end=self.rng.choice((*WELL, *ENDS)),
            born=self.world.clock.now(),
            gang=len(self.world.store.get_by_uid(parse_attempt_id(attempt_id)[0]).replicas) > 1,
            restart=restart,
        )
        self.world.history.append(supervisor)
        return supervisor

    def _stop(self, supervisor: Supervisor) -> None:
        if not supervisor.stopping:
            self.graces.allow(supervisor)
        supervisor.stopping = True

    def _work(self, supervisor: Supervisor) -> None:
        running = supervisor.runs
        supervisor.proceed()
        if supervisor.restart and supervisor.runs and not running:
            self._reconnect(supervisor)
        if running and supervisor.last and not supervisor.stopping:
            self._follow(supervisor, supervisor.last)
        self._deliver(supervisor)
        if supervisor.ended and supervisor.delivered:
            self._leave(supervisor, "it ended")

    def _deliver(self, supervisor: Supervisor) -> None:
        """Some of what is there, from what is acknowledged or before it, as retries do."""
        first = self.rng.randint(max(0, supervisor.acknowledged - 2), supervisor.acknowledged)
        batch = supervisor.spool[first:]

        def report(service: Service) -> None:
            receipt = service.reports.accept(supervisor.bearer, batch)
            supervisor.learn(receipt.acknowledged)
            if receipt.stop:
                self._stop(supervisor)

        try:
            self.world.attempt(report)
        except (PermissionDenied, NotFound) as error:
            raise AssertionError(f"a live supervisor was refused: {error}") from error

    def _follow(self, supervisor: Supervisor, end: Exit) -> None:
        """What the end of a program means for those of its peers."""
        if is_loss(end):
            self._shake(supervisor)
        elif not end.success and not supervisor.evaluates:
            self._deliver_for_certain(supervisor)
            for peer in self._peers(supervisor):
                self._shatter(peer)

    def _shake(self, lost: Supervisor) -> None:
        """Peers fail, or hang, because of a loss: some before it is known, some after."""
        lost.lost = True
        peers = [] if lost.evaluates else self._peers(lost)
        for peer in peers:
            self._shatter(peer)
            if self.rng.random() < 0.5:
                peer.proceed()
                self._deliver(peer)
        if peers and self.rng.random() < 0.5:
            self._check()
            self.world.clock.advance(self.rng.choice([0.1, 1.0, ECHO_S - 0.1]))
            if self.rng.random() < 0.1:
                self.world.clock.jump(self.rng.choice(JUMPS_S))
            self.pass_()
        self._deliver_for_certain(lost)

    def _shatter(self, peer: Supervisor) -> None:
        """Its program fails or hangs for want of another one."""
        peer.echo = self.rng.choice(ECHOES) if self.rng.random() < 0.7 else None
        peer.stuck |= peer.echo is None

    def _reconnect(self, returned: Supervisor) -> None:
        """Those that waited for it go on."""
        for other in self.world.supervisors.values():
            if other.attempt_id == returned.attempt_id and not other.evaluates:
                other.stuck = False

    def _peers(self, supervisor: Supervisor) -> list[Supervisor]:
        """Who is connected to it."""
        gang = (
            other
            for other in self.world.supervisors.values()
            if other.attempt_id == supervisor.attempt_id and other is not supervisor
        )
        return [other for other in gang if other.runs and not other.evaluates and not other.echo]

    def _deliver_for_certain(self, supervisor: Supervisor) -> None:
        for crash_point in self._fuses():
            crash_point.disarm()
        self._deliver(supervisor)

    def _leave(
        self, supervisor: Supervisor, reason: str, cause: EndCause = EndCause.UNKNOWN
    ) -> None:
        del self.world.supervisors[(supervisor.attempt_id, supervisor.replica)]
        self.world.backend.end(supervisor.attempt_id, supervisor.replica, reason, cause)
