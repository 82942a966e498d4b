"""What goes wrong with jobs of several replicas: each ends as it should, and at once."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.job_states import State
from footplate.testing.faults import FaultInjector
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.test_clusters import LATE, MEMBERS, Gang, check, greetings, kinds

FROZEN = "worker-replica-0"


def cancel(gang: Gang) -> None:
    with gang.context.client() as client:
        client.cancel(gang.name)
    assert gang.context.wait_for(gang.name).state is State.CANCELLED
    assert gang.living() == []


def test_cancel_reaches_a_machine_that_stands_still(context: Context) -> None:
    gang = Gang(context)
    gang.build()
    context.until(gang.all_met)
    with FaultInjector(context.service) as faults:
        faults.freeze_machine(FROZEN, job=str(gang.name)).wait()
        cancel(gang)


def test_a_machine_that_stands_still_does_not_hold_up_another_attempt(tmp_path: Path) -> None:
    """Where a loss is one of all, which must all be gone before they start again."""
    whole = running_service(tmp_path / "data", CACHE, stop_grace_s=1, max_restarts=0)
    with whole as service, FaultInjector(service) as faults:
        gang = Gang(Context(service))
        gang.build()
        gang.context.until(gang.all_met)
        faults.freeze_machine(FROZEN, job=str(gang.name)).wait()
        gang.lose("ps-replica-0")

        check(gang, attempt=2)
        assert gang.printed(attempt=1) == greetings(*MEMBERS)
        assert kinds(gang.context, gang.name).count("RETRY") == 1


def test_no_program_starts_while_one_that_was_ready_is_lost(context: Context) -> None:
    """It comes to be known while the server is away, and the last one gets ready after that."""
    gang = Gang(context)
    with gang.all_ready_but(LATE):
        context.service.kill()
        gang.lose("ps-replica-0")
    context.service.start()

    check(gang)
    assert kinds(context, gang.name).count("RESTART") == 1


def test_down_ends_a_gang_that_gathers(context: Context) -> None:
    gang = Gang(context)
    with gang.all_ready_but(LATE):
        context.service.down()
    context.service.start()

    assert context.job(gang.name).state is State.CANCELLED
    assert gang.printed() == []
