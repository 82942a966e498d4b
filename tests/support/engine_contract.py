"""What every backend over an engine does: subclass this and give it ``rig``.

The rig's lease is longer than the tests wait: nothing here is known by silence.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from footplate.backends.engine.engine import JobPhase, LauncherRequest
from footplate.ports.backend import EndCause, Presence
from tests.support.backend_contract import BackendContract
from tests.support.backend_rig import (
    WORKERS,
    all_are,
    make_request,
    make_restart,
    see,
    see_restarts,
)

if TYPE_CHECKING:
    from footplate.ports.backend import AttemptStart
    from tests.support.engine_rig import EngineRig

CHIEF, WORKER = WORKERS[:2]


class EngineContract(BackendContract):
    def expect_restart(self, rig: EngineRig, request: AttemptStart, replica: str) -> None:
        """It lives again, and no start was lost on the way."""
        rig.backend.start(make_restart(request, replica))

        def lives() -> bool:
            seen = see_restarts(rig.backend, request)[replica]
            assert seen != (1, Presence.GONE), see(rig.backend, request)
            return seen == (1, Presence.LIVE)

        rig.settle(lives)

    @pytest.mark.parametrize("who", ["launcher", "parent"])
    def test_a_launcher_that_is_killed_ends_its_replica_and_no_other(
        self, rig: EngineRig, who: str
    ) -> None:
        """It can start again then, and the rest of the gang goes on."""
        request = make_request("u-1", (CHIEF, WORKER))
        self.start_live(rig, request)
        chief, worker = (rig.pid(request.attempt_id, name) for name in (CHIEF, WORKER))
        rig.kill_part(request.attempt_id, WORKER, who)

        def is_gone() -> bool:
            first, second = (each.presence for each in see(rig.backend, request))
            assert first is Presence.LIVE
            return second is Presence.GONE

        rig.settle(is_gone)
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
        self.expect_restart(rig, request, WORKER)
        assert all_are(rig.backend, request, Presence.LIVE)
        assert rig.pid(request.attempt_id, CHIEF) == chief

    def test_a_program_runs_on_a_node(self, rig: EngineRig) -> None:
        """As a probe does; its output comes back, and the engine keeps no job of it."""
        program = b"from __future__ import annotations\nprint('$(id)', 'a', 6 * 7)\n"
        said = rig.engine.run_on_node(program, LauncherRequest("probe", vcpus=1, memory_mb=64))
        assert said.strip().splitlines()[-1] == "$(id) a 42"
        assert rig.engine.list("footplate-check") == () or all(
            job.phase is JobPhase.ENDED for job in rig.engine.list("footplate-check")
        )

    def test_a_task_that_is_killed_costs_one_start(self, rig: EngineRig) -> None:
        request = make_request("u-1", (CHIEF,))
        self.start_live(rig, request)
        rig.kill_part(request.attempt_id, CHIEF, "task")
        self.expect(rig, request, Presence.GONE)
        assert not any(each.cause is EndCause.CANCELLED for each in see(rig.backend, request))
        self.expect_restart(rig, request, CHIEF)

    @pytest.mark.parametrize("who", ["launcher", "parent", "task"])
    def test_what_is_killed_between_two_starts_costs_none(self, rig: EngineRig, who: str) -> None:
        """The engine may say so before the next start is asked for, or after that."""
        request = make_request("u-1", (CHIEF,))
        self.start_live(rig, request)
        rig.kill(request.attempt_id, CHIEF)
        self.expect(rig, request, Presence.GONE)
        launcher, _ = rig.launcher_with_parent(request.attempt_id, CHIEF)
        rig.kill_part(request.attempt_id, CHIEF, who)
        rig.settle(lambda: launcher not in rig.launcher_pids(request.attempt_id))
        if who != "launcher":  # whose successor asks again for what was answered to a dead one
            rig.settle(lambda: rig.door.calls == 0)
        self.expect_restart(rig, request, CHIEF)
