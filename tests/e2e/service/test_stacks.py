"""Where the replicas of a job stand, asked of a whole service."""

from __future__ import annotations

import pytest

from footplate.domain.errors import FailedPrecondition
from footplate.domain.job_states import State
from footplate.domain.names import JobName
from footplate.domain.stacks import Comparison, describe
from tests.e2e.service.conftest import Context

TRAINER = """\
import json, os, time

def load_batch():
    time.sleep(600)

def all_reduce():
    time.sleep(600)

def train(late):
    if late:
        load_batch()
    all_reduce()

if __name__ == "__main__":
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    print("up", flush=True)
    train(late=(task["type"], task["index"]) == ("worker", 0))
"""
CLUSTER = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "workerType": "n1-standard-4",
    "workerCount": "2",
}
HANG = """\
master-replica-0, worker-replica-1 (2 of 3) are in all_reduce (trainer/task.py:7)
  all_reduce (trainer/task.py:7)
  train (trainer/task.py:12)
  <module> (trainer/task.py:17)

worker-replica-0 differs: it is in load_batch (trainer/task.py:4)
  load_batch (trainer/task.py:4)
  train (trainer/task.py:11)
  <module> (trainer/task.py:17)
  (in train of trainer/task.py these are at line 11, the others are at line 12)"""


def collect(context: Context, name: JobName, *replicas: str) -> Comparison:
    with context.client() as client:
        return client.stacks(name, replicas).comparison


def test_the_replica_that_holds_up_the_others_is_pointed_at(context: Context) -> None:
    """Also by a server that came after the job."""
    name = context.submit(TRAINER, **CLUSTER)
    context.wait_for(name, State.RUNNING)
    context.until(lambda: describe(collect(context, name)) == HANG)

    def asked_alone() -> list[str]:
        only = collect(context, name, "worker-replica-0")
        return [member.replica for place in only.places for member in place.members]

    context.until(lambda: asked_alone() == ["worker-replica-0"])

    context.service.kill()
    context.service.start()
    context.until(lambda: describe(collect(context, name)) == HANG)

    with context.client() as client:
        client.cancel(name)
    context.wait_for(name, State.CANCELLED)
    with pytest.raises(FailedPrecondition, match="is CANCELLED: none of its programs runs"):
        collect(context, name)
