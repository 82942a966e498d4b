"""What every backend does whose machines die or are cut off: subclass this and give it ``rig``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.ports.backend import Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, make_restart, see

if TYPE_CHECKING:
    from footplate.ports.backend import AttemptStart
    from tests.support.machines_rig import MachinesRig

CHIEF, WORKER = WORKERS[:2]


class MachineFaultsContract:
    """A gang of two, each on a machine of its own; the fault is that of the second one's."""

    def start_gang(self, rig: MachinesRig) -> AttemptStart:
        request = make_request("u-1", (CHIEF, WORKER))
        rig.backend.start(request)
        rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
        machines = {rig.machine_of(request.attempt_id, name) for name in (CHIEF, WORKER)}
        assert len(machines) == 2
        return request

    def expect(self, rig: MachinesRig, request: AttemptStart, worker: Presence) -> None:
        """The chief goes on meanwhile, and no two supervisors of the worker are alive."""

        def reached() -> bool:
            assert len(rig.supervisor_pids("u-1", WORKER)) < 2
            chief, other = (each.presence for each in see(rig.backend, request))
            assert chief is Presence.LIVE
            return other is worker

        rig.settle(reached)

    def test_what_ran_on_a_dead_machine_starts_again_on_another(self, rig: MachinesRig) -> None:
        request = self.start_gang(rig)
        chief, dead = rig.pid("u-1", CHIEF), rig.machine_of(request.attempt_id, WORKER)
        rig.machines.kill(dead)
        try:
            assert rig.supervisor_pids("u-1", WORKER) == ()
            self.expect(rig, request, Presence.GONE)
            rig.wait_until_avoided(rig.machine_of(request.attempt_id, WORKER))
            rig.backend.start(make_restart(request, WORKER))
            self.expect(rig, request, Presence.LIVE)
            assert rig.machine_of(request.attempt_id, WORKER) != dead
            assert rig.pid("u-1", CHIEF) == chief
        finally:
            rig.start_machine(dead)

    def test_what_runs_on_a_machine_that_is_cut_off_never_runs_twice(
        self, rig: MachinesRig
    ) -> None:
        """It has ended there before it counts as gone, and healing brings nothing back."""
        request = self.start_gang(rig)
        chief, away = rig.pid("u-1", CHIEF), rig.machine_of(request.attempt_id, WORKER)
        first = rig.supervisor_pids("u-1", WORKER)
        rig.machines.cut(away)
        try:
            assert first == rig.supervisor_pids("u-1", WORKER)
            self.expect(rig, request, Presence.GONE)
            assert rig.supervisor_pids("u-1", WORKER) == ()
            rig.wait_until_avoided(rig.machine_of(request.attempt_id, WORKER))
            rig.backend.start(make_restart(request, WORKER))
            self.expect(rig, request, Presence.LIVE)
            assert rig.machine_of(request.attempt_id, WORKER) != away
        finally:
            rig.heal_machine(away)
        self.expect(rig, request, Presence.LIVE)
        rig.settle(lambda: len(rig.launcher_pids("u-1")) == 2)
        assert rig.pid("u-1", CHIEF) == chief
        rig.backend.stop(request.attempt_id)
        rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
        rig.backend.forget(request.attempt_id)
        rig.settle(lambda: rig.launcher_pids("u-1") == ())
