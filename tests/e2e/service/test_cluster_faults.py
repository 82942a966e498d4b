"""What goes wrong with jobs of several replicas: each ends as it should, and at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.states import State
from footplate.testing.faults import FaultInjector
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Desk
from tests.e2e.service.test_clusters import LATE, MEMBERS, Gang, check, greetings, kinds

if TYPE_CHECKING:
    from pathlib import Path

FROZEN = "worker-replica-0"


def cancel(gang: Gang) -> None:
    with gang.desk.client() as client:
        client.cancel(gang.name)
    assert gang.desk.wait_for(gang.name).state is State.CANCELLED
    assert gang.living() == []


def test_cancel_reaches_a_machine_that_stands_still(desk: Desk) -> None:
    gang = Gang(desk)
    gang.build()
    desk.until(gang.all_met)
    with FaultInjector(desk.service) as faults:
        faults.freeze_machine(FROZEN, job=str(gang.name)).wait()
        cancel(gang)


def test_a_machine_that_stands_still_does_not_hold_up_another_attempt(tmp_path: Path) -> None:
    """Where a loss is one of all, which must all be gone before they start again."""
    whole = running_service(tmp_path / "data", CACHE, stop_grace_s=1, max_restarts=0)
    with whole as service, FaultInjector(service) as faults:
        gang = Gang(Desk(service))
        gang.build()
        gang.desk.until(gang.all_met)
        faults.freeze_machine(FROZEN, job=str(gang.name)).wait()
        gang.lose("ps-replica-0")

        check(gang, attempt=2)
        assert gang.printed(attempt=1) == greetings(*MEMBERS)
        assert kinds(gang.desk, gang.name).count("RETRY") == 1


def test_no_program_starts_while_one_that_was_ready_is_lost(desk: Desk) -> None:
    """It comes to be known while the server is away, and the last one gets ready after that."""
    gang = Gang(desk)
    with gang.all_ready_but(LATE):
        desk.service.kill()
        gang.lose("ps-replica-0")
    desk.service.start()

    check(gang)
    assert kinds(desk, gang.name).count("RESTART") == 1


def test_down_ends_a_gang_that_gathers(desk: Desk) -> None:
    gang = Gang(desk)
    with gang.all_ready_but(LATE):
        desk.service.down()
    desk.service.start()

    assert desk.job(gang.name).state is State.CANCELLED
    assert gang.printed() == []
