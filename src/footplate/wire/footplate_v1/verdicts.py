"""Converts validation results to JSON and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.jobs import DiskSpec
from footplate.domain.preview.parity import Parity
from footplate.domain.preview.plan import Plan, PlannedMachine, PlannedPool, PlannedProgram
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.wire.footplate_v1 import models

if TYPE_CHECKING:
    from footplate.wire.json_text import JsonObject

_KNOWN: dict[bool | None, models.Known] = {True: "YES", False: "NO", None: "UNKNOWN"}


def verdict_json(verdict: Verdict) -> JsonObject:
    """Encodes a verdict: ACCEPTED or REJECTED, as a submit of the same request decides."""
    parity = verdict.parity
    answer: JsonObject = {
        "verdict": "ACCEPTED" if verdict.accepted else "REJECTED",
        "violations": [
            {"field": each.field, "description": each.description} for each in verdict.violations
        ],
        "warnings": [*verdict.warnings],
        "parity": {"accepted": _KNOWN[parity.accepted], "reasons": [*parity.reasons]},
        "refusal": verdict.refusal,
        "plan": None if verdict.plan is None else _plan_json(verdict.plan),
        "queue": None if verdict.queue is None else _queue_json(verdict.queue),
    }
    return _given(answer)


def _queue_json(queue: Outlook) -> JsonObject:
    if queue.starts_now:
        return {"startsNow": True}
    return {"startsNow": False, "place": queue.place, "explanation": queue.text}


def _plan_json(plan: Plan) -> JsonObject:
    return _given(
        {
            "region": plan.region,
            "zone": plan.zone,
            "mode": None if plan.mode is None else plan.mode.value,
            "limits": plan.limits or None,
            "pools": [_pool_json(pool) for pool in plan.pools],
            "steps": [*plan.steps],
            "counts": {**plan.counts},
            "holds": {**plan.holds},
        }
    )


def _pool_json(pool: PlannedPool) -> JsonObject:
    return {
        "role": pool.role,
        "replicas": [*pool.replicas],
        "machine": _machine_json(pool.machine),
        "program": _program_json(pool.program),
        "env": [{"name": name, "value": value} for name, value in pool.variables],
    }


def _machine_json(machine: PlannedMachine) -> JsonObject:
    return _given(
        {
            "machineType": machine.machine_type,
            "vcpus": machine.vcpus,
            "memoryGb": machine.memory_gb,
            "acceleratorType": machine.accelerator,
            "acceleratorCount": machine.accelerator_count if machine.accelerator else None,
            "bootDiskType": machine.disk.boot_disk_type,
            "bootDiskSizeGb": machine.disk.boot_disk_size_gb,
        }
    )


def _program_json(program: PlannedProgram) -> JsonObject:
    return _given(
        {
            "runtime": program.runtime,
            "pythonVersion": program.python,
            "pythonModule": program.module,
            "packageUris": [*program.packages] or None,
            "imageUri": program.image,
            "command": None if program.command is None else [*program.command],
            "args": None if program.args is None else [*program.args],
        }
    )


def _given(made: JsonObject) -> JsonObject:
    return {name: value for name, value in made.items() if value is not None}


def read_verdict(resource: JsonObject) -> Verdict:
    """Reads a verdict. Raises InvalidArgument: the JSON doesn't describe a verdict."""
    try:
        found = models.Verdict.model_validate(resource)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        raise InvalidArgument(f"not a verdict: {path}: {first['msg']}") from None
    accepted = {text: value for value, text in _KNOWN.items()}[found.parity.accepted]
    return Verdict(
        violations=tuple(Violation(v.field, v.description) for v in found.violations),
        warnings=found.warnings,
        parity=Parity(accepted, found.parity.reasons),
        refusal=found.refusal,
        plan=None if found.plan is None else _plan(found.plan),
        queue=None if found.queue is None else _queue(found.queue),
    )


def _queue(found: models.Queue) -> Outlook:
    return Outlook(found.starts_now, found.place, found.explanation)


def _plan(found: models.Plan) -> Plan:
    return Plan(
        region=found.region,
        zone=found.zone,
        mode=found.mode,
        limits=found.limits,
        pools=tuple(_pool(pool) for pool in found.pools),
        steps=found.steps,
        counts=found.counts,
        holds=found.holds,
    )


def _pool(found: models.Pool) -> PlannedPool:
    return PlannedPool(
        role=found.role,
        replicas=found.replicas,
        machine=_machine(found.machine),
        program=_program(found.program),
        variables=tuple((variable.name, variable.value) for variable in found.env),
    )


def _machine(found: models.Machine) -> PlannedMachine:
    return PlannedMachine(
        machine_type=found.machine_type,
        vcpus=found.vcpus,
        memory_gb=found.memory_gb,
        accelerator=found.accelerator_type,
        accelerator_count=found.accelerator_count,
        disk=DiskSpec(found.boot_disk_type, found.boot_disk_size_gb),
    )


def _program(found: models.Program) -> PlannedProgram:
    return PlannedProgram(
        runtime=found.runtime,
        python=found.python_version,
        module=found.python_module,
        packages=found.package_uris,
        image=found.image_uri,
        command=found.command,
        args=found.args,
    )
