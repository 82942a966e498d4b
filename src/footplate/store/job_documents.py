"""JSON documents of jobs: spec, replicas, ending, labels, event bodies."""

from __future__ import annotations

from typing import Any, assert_never

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import (
    Address,
    ClusterVariable,
    ContainerProgram,
    Directory,
    DiskSpec,
    Ending,
    Exit,
    ExitKind,
    JobEvent,
    JobSpec,
    MachineSpec,
    Program,
    PythonProgram,
    Replica,
    Scheduling,
    WorkerPool,
)
from footplate.store.json_column import Json, read, write
from footplate.store.pipelines import pipeline_document, pipeline_of
from footplate.store.studies.searches import search_document, search_of
from footplate.store.timestamps import from_micros, from_micros_or_none, to_micros

Pairs = tuple[tuple[str, str], ...]


def write_labels(labels: Pairs) -> str:
    return write({"labels": labels})


def read_labels(text: str) -> Pairs:
    return _pairs(read(text)["labels"])


def write_event(event: JobEvent) -> str:
    """All of an event that has no column of its own."""
    body = {"kind": event.kind, "message": event.message}
    return write({**body, "attempt": event.attempt, "replica": event.replica})


def read_event(text: str, time: int, key: str | None) -> JobEvent:
    body = read(text)
    return JobEvent(
        time=from_micros(time),
        kind=body["kind"],
        message=body["message"],
        attempt=body["attempt"],
        replica=body["replica"],
        key=key,
    )


def write_ending(ending: Ending | None) -> str | None:
    if ending is None:
        return None
    return write({"state": ending.state.value, "code": ending.code.name, "message": ending.message})


def read_ending(text: str | None) -> Ending | None:
    if text is None:
        return None
    ending = read(text)
    return Ending(State(ending["state"]), Code[ending["code"]], ending["message"])


def write_replicas(replicas: tuple[Replica, ...], images: Pairs = ()) -> str:
    """``images``: those that the replicas run; left out where there are none."""
    document: Json = {"replicas": [_replica_document(replica) for replica in replicas]}
    return write({**document, "images": images} if images else document)


def read_images(text: str) -> Pairs:
    return _pairs(read(text).get("images", []))


def read_replicas(text: str) -> tuple[Replica, ...]:
    return tuple(_replica(replica) for replica in read(text)["replicas"])


def _replica_document(replica: Replica) -> Json:
    end = replica.exit
    document: Json = {
        "name": replica.name,
        "phase": replica.phase.value,
        "exit": end and {"kind": end.kind.value, "code": end.code, "cause": end.cause},
    }
    if end is not None and end.advice:
        document["advice"] = end.advice
    if replica.devices:
        document["devices"] = replica.devices
    if replica.address is not None:
        document["address"] = [*vars(replica.address).values()]
    if replica.ended_at is not None:
        document["ended"] = [to_micros(replica.ended_at), replica.ended_as]
    if replica.loss:
        document["loss"] = replica.loss
    if replica.overdue:
        document["overdue"] = True
    if replica.restart or replica.losses or replica.echoes:
        document["restarts"] = [replica.restart, replica.losses, replica.echoes]
    if replica.upset_at is not None:
        document["upset"] = to_micros(replica.upset_at)
    return document


def _replica(document: Json) -> Replica:
    end = document["exit"]
    ended_at, ended_as = document.get("ended", (None, 0))
    restart, losses, echoes = document.get("restarts", (0, 0, 0))
    return Replica(
        name=document["name"],
        phase=Phase(document["phase"]),
        exit=end and _exit(end, document.get("advice", "")),
        devices=tuple(document.get("devices", ())),
        address=_address(document.get("address")),
        ended_at=from_micros_or_none(ended_at),
        ended_as=ended_as,
        loss=document.get("loss", ""),
        overdue=document.get("overdue", False),
        restart=restart,
        losses=losses,
        echoes=echoes,
        upset_at=from_micros_or_none(document.get("upset")),
    )


def _exit(document: Json, advice: str) -> Exit:
    return Exit(ExitKind(document["kind"]), document["code"], document["cause"], advice)


def _address(document: list[Any] | None) -> Address | None:
    if document is None:
        return None
    host, port, open_ports = document
    return Address(host, port, tuple(open_ports))


def write_spec(spec: JobSpec) -> str:
    return write(
        {
            "region": spec.region,
            "pools": [_pool_document(pool) for pool in spec.pools],
            "scheduling": _scheduling_document(spec.scheduling),
            "job_dir": spec.job_dir,
            "directories": [_directory_document(made) for made in spec.directories],
            "environment": spec.environment,
            "cluster_variables": sorted(v.value for v in spec.cluster_variables),
            "chief_role": spec.chief_role,
            "cluster_job": spec.cluster_job,
            "trial": spec.trial,
            "metrics": spec.metrics,
            "search": search_document(spec.search),
            "service_account": spec.service_account,
            "network": spec.network,
            "web_access": spec.web_access,
            **({"data": spec.data} if spec.data else {}),
            **pipeline_document(spec.pipeline),
        }
    )


def read_spec(text: str) -> JobSpec:
    spec = read(text)
    return JobSpec(
        region=spec["region"],
        pools=tuple(_pool(pool) for pool in spec["pools"]),
        scheduling=_scheduling(spec["scheduling"]),
        job_dir=spec["job_dir"],
        directories=tuple(_directory(made) for made in spec["directories"]),
        environment=_pairs(spec["environment"]),
        data=_pairs(spec.get("data", ())),
        cluster_variables=frozenset(ClusterVariable(v) for v in spec["cluster_variables"]),
        chief_role=spec["chief_role"],
        cluster_job=spec["cluster_job"],
        trial=spec.get("trial"),
        metrics=tuple(spec.get("metrics", ())),
        search=search_of(spec.get("search")),
        pipeline=pipeline_of(spec.get("pipeline")),
        service_account=spec["service_account"],
        network=spec["network"],
        web_access=spec["web_access"],
    )


def _directory_document(directory: Directory) -> list[str | None]:
    made = [directory.variable, directory.uri]
    return [*made, directory.leaf] if directory.leaf else made


def _directory(document: list[Any]) -> Directory:
    variable, uri, *leaf = document
    return Directory(variable, uri, leaf=leaf[0] if leaf else "")


def _scheduling_document(scheduling: Scheduling) -> Json:
    return {
        "max_running_time_s": scheduling.max_running_time_s,
        "max_wait_time_s": scheduling.max_wait_time_s,
        "priority": scheduling.priority,
        "max_restarts": scheduling.max_restarts,
        "max_retries": scheduling.max_retries,
        "restarts_together": scheduling.restarts_together,
    }


def _scheduling(document: Json) -> Scheduling:
    return Scheduling(
        max_running_time_s=document["max_running_time_s"],
        max_wait_time_s=document["max_wait_time_s"],
        priority=document["priority"],
        max_restarts=document["max_restarts"],
        max_retries=document["max_retries"],
        restarts_together=document["restarts_together"],
    )


def _pool_document(pool: WorkerPool) -> Json:
    machine, disk = pool.machine, pool.disk
    return {
        "cluster_role": pool.cluster_role,
        "replica_prefix": pool.replica_prefix,
        "machine": [machine.machine_type, machine.accelerator_type, machine.accelerator_count],
        "replica_count": pool.replica_count,
        "program": _program_document(pool.program),
        "environment": pool.environment,
        "disk": [disk.boot_disk_type, disk.boot_disk_size_gb],
    }


def _pool(document: Json) -> WorkerPool:
    return WorkerPool(
        cluster_role=document["cluster_role"],
        replica_prefix=document["replica_prefix"],
        machine=MachineSpec(*document["machine"]),
        replica_count=document["replica_count"],
        program=_program(document["program"]),
        environment=_pairs(document["environment"]),
        disk=DiskSpec(*document["disk"]),
    )


def _program_document(program: Program) -> Json:
    match program:
        case PythonProgram():
            return {
                "kind": "python",
                "runtime": program.runtime,
                "package_uris": program.package_uris,
                "module": program.module,
                "args": program.args,
            }
        case ContainerProgram():
            return {
                "kind": "container",
                "image_uri": program.image_uri,
                "command": program.command,
                "args": program.args,
            }
        case _:
            assert_never(program)


def _program(document: Json) -> Program:
    match document["kind"]:
        case "python":
            return PythonProgram(
                runtime=document["runtime"],
                package_uris=tuple(document["package_uris"]),
                module=document["module"],
                args=tuple(document["args"]),
            )
        case "container":
            return ContainerProgram(
                image_uri=document["image_uri"],
                command=_texts(document["command"]),
                args=_texts(document["args"]),
            )
        case kind:
            raise ValueError(f"a program of kind {kind!r}")


def _texts(document: list[str] | None) -> tuple[str, ...] | None:
    return None if document is None else tuple(document)


def _pairs(document: list[list[str]]) -> Pairs:
    return tuple((name, value) for name, value in document)
