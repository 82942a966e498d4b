"""Tasks and contexts of supervisors: for tests of their parts."""

from __future__ import annotations

from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from footplate.protocol.task import CommandTask, Task
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.context import Context
from footplate.replica.workdir import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from footplate.protocol.task import ContainerTask, PythonTask
    from footplate.replica.report_client import ReportClient


def make_task(
    program: PythonTask | CommandTask | ContainerTask | None = None, **fields: Any
) -> Task:
    return Task(program or CommandTask(("true",)), **fields)


def make_context(
    home: Path,
    task: Task | None = None,
    ticket: SupervisorTicket | None = None,
    *,
    command: Sequence[str] = (),
    host: Mapping[str, str] | None = None,
    clock: Callable[[], float] = monotonic,
) -> Context:
    """A context whose supervisor has got the task; it has no journal yet."""
    context = Context(
        Home(str(home)), ticket or SupervisorTicket(), "mark", command, host or {}, clock
    )
    context.report_client = cast("ReportClient", SimpleNamespace(task=task or make_task()))
    return context
