"""What a round does, and when the next one is due."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from footplate.control.admission import Admission
from footplate.control.cycle import Cycle
from footplate.control.reconciler import Reconciler


class Idle:
    """A reconciler and an admission in one; ``passed`` tells of each pass."""

    def __init__(self) -> None:
        self.passed = threading.Semaphore(0)
        self.calls: list[str] = []
        self.admits = False
        self.fault: Exception | None = None
        self.due_s: float | None = None
        """Of the reconciler."""
        self.queue_due_s: float | None = None

    def reconcile(self) -> float | None:
        self.calls.append("reconcile")
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault
        return self.due_s

    def admit(self) -> bool:
        self.calls.append("admit")
        return self.admits

    def seconds_to_due(self) -> float | None:
        self.passed.release()
        return self.queue_due_s


def make_round(idle: Idle) -> Cycle:
    return Cycle(cast("Admission", idle), cast("Reconciler", idle))


def test_what_was_admitted_starts_in_the_same_pass() -> None:
    idle = Idle()
    make_round(idle).step()
    assert idle.calls == ["reconcile", "admit"]

    idle.admits = True
    make_round(idle).step()
    assert idle.calls[2:] == ["reconcile", "admit", "reconcile"]


@pytest.mark.parametrize(
    ("jobs_s", "queue_s", "due_s"),
    [(None, None, None), (3.0, None, 3.0), (None, 4.0, 4.0), (3.0, 4.0, 3.0), (5.0, 4.0, 4.0)],
)
def test_the_next_pass_is_due_when_the_first_of_all_is(
    jobs_s: float | None, queue_s: float | None, due_s: float | None
) -> None:
    idle = Idle()
    idle.due_s, idle.queue_due_s = jobs_s, queue_s

    assert make_round(idle).step() == due_s
