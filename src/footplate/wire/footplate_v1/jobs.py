"""The JSON of jobs in Footplate's own API: the same for all kinds."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from footplate.domain.admission import Explanation
from footplate.domain.filters import Field
from footplate.domain.job_states import State
from footplate.domain.jobs import ContainerProgram, Job, Program, Replica, WorkerPool
from footplate.domain.names import backing_job_name
from footplate.wire.filters.jobs import Vocabulary
from footplate.wire.json_text import JsonObject
from footplate.wire.paging import PageRule
from footplate.wire.timestamps import format_time

if TYPE_CHECKING:
    from pydantic import JsonValue

PAGES = PageRule(default=50, maximum=500)
VOCABULARY = Vocabulary(
    fields={
        "displayName": Field.DISPLAY_NAME,
        "jobId": Field.JOB_ID,
        "state": Field.STATE,
        "region": Field.REGION,
        "author": Field.AUTHOR,
        "createTime": Field.CREATE_TIME,
        "startTime": Field.START_TIME,
        "endTime": Field.END_TIME,
    },
    states={state.value: state for state in State},
)


def brief_json(
    job: Job, waiting: Explanation | None, per_hour: JsonObject | None = None
) -> JsonObject:
    """Returns a job as lists show it; ``waiting`` explains why it isn't running yet.

    ``per_hour`` has the machines and accelerators that the job holds, and the cost of an hour.
    """
    collection = job.name.collection.split("/")
    answer: JsonObject = {
        "name": str(job.name),
        "displayName": job.display_name,
        "jobId": job.id,
        "project": job.name.project,
        "region": job.spec.region,
        "kind": collection[-1],
        "state": job.state.value,
        "machines": [_machines(pool) for pool in job.spec.pools],
        "restarts": job.restarts,
        **_times(create=job.create_time, start=job.start_time, end=job.end_time),
    }
    if job.spec.search is not None and job.spec.pipeline is None:
        answer["trials"] = job.spec.search.counts.trials
    if per_hour is not None:
        answer["perHour"] = per_hour
    if job.labels:
        answer["labels"] = dict(job.labels)
    if job.note:
        answer["note"] = job.note
    if job.author:
        answer["author"] = job.author
    if waiting is not None:
        answer["waiting"] = waiting.text
        answer["place"] = waiting.place
    if job.ending is not None and job.ending.message:
        answer["message"] = job.ending.message
    return answer


def details_json(
    job: Job, waiting: Explanation | None, per_hour: JsonObject | None = None
) -> JsonObject:
    """Returns everything about a job except trials, events, log lines and usage.

    ``request`` is the accepted request, ``spec`` the service's interpretation. For a training
    pipeline ``backing`` is the job that runs its program, and ``model`` the version that it made.
    """
    found: JsonObject = {
        **brief_json(job, waiting, per_hour),
        "attempt": job.attempt,
        "updateTime": format_time(job.update_time),
        "replicas": [_replica(each) for each in job.replicas],
        "images": dict(job.images),
        "spec": _spec(job),
        "request": json.loads(job.request),
    }
    if job.spec.pipeline is not None:
        tunes = job.spec.search is not None
        found["backing"] = str(backing_job_name(job.name, tunes=tunes))
        if job.spec.pipeline.model:
            found["model"] = job.spec.pipeline.model
    return found


def _times(**times: datetime | None) -> dict[str, JsonValue]:
    return {f"{name}Time": format_time(time) for name, time in times.items() if time is not None}


def _machines(pool: WorkerPool) -> JsonObject:
    machine = pool.machine
    found: JsonObject = {
        "role": pool.cluster_role,
        "count": pool.replica_count,
        "machineType": machine.machine_type,
    }
    if machine.accelerator_type:
        found["acceleratorType"] = machine.accelerator_type
        found["acceleratorCount"] = machine.accelerator_count
    return found


def _replica(replica: Replica) -> JsonObject:
    found: JsonObject = {
        "name": replica.name,
        "phase": replica.phase.value,
        "restarts": replica.losses,
        "restart": replica.restart,
        "devices": list(replica.devices),
    }
    if replica.address is not None:
        found["address"] = str(replica.address)
    if replica.exit is not None:
        left = replica.exit
        found["exit"] = {
            "kind": left.kind.value,
            "code": left.code,
            "cause": left.cause,
            "advice": left.advice,
        }
    if replica.loss:
        found["loss"] = replica.loss
    return found


def _spec(job: Job) -> JsonObject:
    spec, limits = job.spec, job.spec.scheduling
    found: JsonObject = {
        "region": spec.region,
        "pools": [_pool(pool) for pool in spec.pools],
        "maxRunningTimeS": limits.max_running_time_s,
        "maxWaitTimeS": limits.max_wait_time_s,
        "priority": limits.priority,
        "maxRestarts": limits.max_restarts,
        "maxRetries": limits.max_retries,
        "webAccess": spec.web_access,
        "tuning": spec.search is not None,
        "directories": [{"variable": each.variable, "uri": each.uri} for each in spec.directories],
        "directoryForm": spec.directory_form.value,
    }
    optional: dict[str, JsonValue] = {
        "jobDir": spec.job_dir,
        "trial": spec.trial,
        "serviceAccount": spec.service_account,
        "network": spec.network,
        "persistentResource": spec.persistent_resource,
        "tensorboard": spec.tensorboard,
    }
    return found | {name: value for name, value in optional.items() if value is not None}


def _pool(pool: WorkerPool) -> JsonObject:
    return {
        **_machines(pool),
        "replicas": pool.replica_count,
        "bootDiskType": pool.disk.boot_disk_type,
        "bootDiskSizeGb": pool.disk.boot_disk_size_gb,
        "environment": dict(pool.environment),
        "program": _program(pool.program),
    }


def _program(program: Program) -> JsonObject:
    if isinstance(program, ContainerProgram):
        found: JsonObject = {"image": program.image_uri}
        for name, words in (("command", program.command), ("args", program.args)):
            if words is not None:
                found[name] = list(words)
        return found
    return {
        "runtime": program.runtime,
        "packages": list(program.package_uris),
        "module": program.module,
        "args": list(program.args),
    }
