"""The JSON of validation results. Absent values are left out."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from footplate.domain.sites import Mode

Known = Literal["YES", "NO", "UNKNOWN"]


class _Answer(BaseModel):
    """The base of answers; unknown fields come from a newer service, and are ignored."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)


class Violation(_Answer):
    field: str
    description: str


class Parity(_Answer):
    accepted: Known
    reasons: tuple[str, ...] = ()


class Machine(_Answer):
    machine_type: str
    vcpus: int | None = None
    memory_gb: float | None = None
    accelerator_type: str | None = None
    accelerator_count: int = 0
    boot_disk_type: str
    boot_disk_size_gb: int


class Program(_Answer):
    runtime: str | None = None
    python_version: str | None = None
    python_module: str | None = None
    package_uris: tuple[str, ...] = ()
    image_uri: str | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None


class Variable(_Answer):
    name: str
    value: str


class Pool(_Answer):
    role: str
    replicas: tuple[str, ...]
    machine: Machine
    program: Program
    env: tuple[Variable, ...] = ()


class Plan(_Answer):
    region: str
    zone: str | None = None
    mode: Mode | None = None
    limits: str = ""
    pools: tuple[Pool, ...]
    steps: tuple[str, ...] = ()
    counts: dict[str, int]
    holds: dict[str, int]


class Queue(_Answer):
    starts_now: bool
    place: int = 0
    explanation: str = ""


class Verdict(_Answer):
    verdict: Literal["ACCEPTED", "REJECTED"]
    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()
    parity: Parity
    refusal: str | None = None
    plan: Plan | None = None
    queue: Queue | None = None


class PackageCheck(_Answer):
    package: str
    roles: tuple[str, ...] = ()
    runtime: str = ""
    adds: tuple[str, ...] = ()
    error: str = ""


class PackageChecks(_Answer):
    packages: tuple[PackageCheck, ...] = ()
