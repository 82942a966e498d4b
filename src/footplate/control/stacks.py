"""Collects stack traces from all replicas of a job, and compares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Semaphore

from footplate.control.control_requests import (
    ControlRequest,
    ControlRequestKind,
    ControlRequests,
    running,
)
from footplate.domain.errors import FailedPrecondition, InvalidArgument, ResourceExhausted
from footplate.domain.jobs import Job
from footplate.domain.replica_names import choose_replica
from footplate.domain.stacks import Dump, Missing, Report, compare, describe
from footplate.wire.stacks import decode_dump

LIMIT_S = 10.0
"""How long replicas may take to answer."""
MOST_AT_ONCE = 8
"""Each costs a thread until it is done."""


class Stacks:
    def __init__(self, control_requests: ControlRequests) -> None:
        self._control_requests = control_requests
        self._room = Semaphore(MOST_AT_ONCE)

    def collect(self, job: Job, replicas: Sequence[str] = (), limit_s: float = LIMIT_S) -> Report:
        """Collects the stack traces of ``replicas`` (empty: all); blocks until they have answered.

        Replicas that don't answer are named in the comparison, with the reason.

        Raises:
            NotFound: the job has no such replica.
            FailedPrecondition: no replica's program runs.
            ResourceExhausted: too many callers are collecting stack traces now.
        """
        known = job.spec.replica_names()
        names = tuple(dict.fromkeys(choose_replica(name, known) for name in replicas)) or known
        with self._taken():
            asked = self._ask(job, names)
            control_requests = [each for each in asked.values() if not isinstance(each, str)]
            answers = dict(
                zip(
                    control_requests,
                    self._control_requests.wait(control_requests, limit_s),
                    strict=True,
                )
            )
        dumps: dict[str, Dump] = {}
        missing: list[Missing] = []
        for name, control_request in asked.items():
            if isinstance(control_request, str):
                missing.append(Missing(name, control_request))
            elif answers[control_request].error:
                missing.append(Missing(name, answers[control_request].error))
            else:
                _read(name, answers[control_request].text, dumps, missing)
        return Report(compare(dumps, missing), dumps)

    def tell(self, job: Job, limit_s: float = LIMIT_S) -> str:
        """Returns the stack traces of a job as text for its events; never raises."""
        try:
            return describe(self.collect(job, limit_s=limit_s).comparison)
        except (FailedPrecondition, ResourceExhausted) as error:
            return f"no stacks: {error.message}"

    def _ask(self, job: Job, names: Sequence[str]) -> dict[str, ControlRequest | str]:
        """Returns for each replica a control request, or the reason why it can't be asked."""
        refusals = {name: _refusal(job, name) for name in names}
        if all(refusals.values()):
            raise FailedPrecondition(next(iter(refusals.values())))
        asked: dict[str, ControlRequest | str] = {}
        for name, refusal in refusals.items():
            try:
                asked[name] = refusal or self._control_requests.ask(
                    job, name, ControlRequestKind.STACKS
                )
            except ResourceExhausted as error:
                asked[name] = error.message
        return asked

    @contextmanager
    def _taken(self) -> Iterator[None]:
        if not self._room.acquire(blocking=False):
            raise ResourceExhausted(
                f"the server already reads the stacks of {MOST_AT_ONCE} jobs; try again in a moment"
            )
        try:
            yield
        finally:
            self._room.release()


def _refusal(job: Job, replica: str) -> str:
    """Returns why the replica can't be asked; '' if it can. Raises NotFound."""
    try:
        running(job, replica)
    except FailedPrecondition as error:
        return error.message
    return ""


def _read(name: str, text: str, dumps: dict[str, Dump], missing: list[Missing]) -> None:
    try:
        dumps[name] = decode_dump(text)
    except InvalidArgument as error:
        missing.append(Missing(name, f"the replica's answer can't be read: {error.message}"))
