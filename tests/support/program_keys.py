"""A job whose program has keys, and what ends them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Replica
from tests.support.jobs import make_job

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from tests.support.store import MemoryStore

MASTER = "master-replica-0"
SECRET = b"s" * 32
OVER = [
    {"state": State.SUCCEEDED},
    {"attempt": 2},
    {"replicas": (Replica(MASTER, Phase.RUNNING, restart=1),)},
]
"""Changes of the job after which its program's keys are good no more."""


def store_running_job(store: MemoryStore, service_account: str | None = None) -> Job:
    job = make_job()
    job = replace(
        job,
        spec=replace(job.spec, service_account=service_account),
        state=State.RUNNING,
        attempt=1,
        replicas=(Replica(MASTER, Phase.RUNNING),),
    )
    store.create(job, ())
    return job
