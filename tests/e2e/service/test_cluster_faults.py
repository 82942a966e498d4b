"""What goes wrong with jobs of several replicas: each ends as it should, and at once."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.e2e.service.test_clusters import Gang

from footplate.domain.states import State

if TYPE_CHECKING:
    from tests.e2e.service.conftest import Desk

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

FROZEN = "worker-replica-0"


def cancel(gang: Gang) -> None:
    with gang.desk.client() as client:
        client.cancel(gang.name)
    assert gang.desk.wait_for(gang.name).state is State.CANCELLED
    assert gang.living() == []


def test_cancel_reaches_a_supervisor_that_was_stopped(desk: Desk) -> None:
    gang = Gang(desk)
    gang.build()
    desk.until(gang.all_met)
    os.kill(gang.supervisors()[FROZEN], signal.SIGSTOP)

    cancel(gang)
