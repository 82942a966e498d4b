"""The four replica roles of ml v1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from footplate.domain.catalogue import Catalogue
from footplate.domain.catalogue import ScaleTier as Cluster
from footplate.domain.jobs import MachineSpec
from footplate.domain.machines import MachineRequest
from footplate.wire.training_v1.enums import AcceleratorType, ScaleTier
from footplate.wire.training_v1.models import AcceleratorConfig, ReplicaConfig, TrainingInput

MAX_REPLICAS = 10_000
"""Of one role; more is a slip of the hand, and would be written out replica by replica."""
_AT = "trainingInput"


@dataclass(frozen=True)
class Role:
    """A role in the request; ``name`` is the prefix of its fields."""

    name: str
    cluster_role: str
    machine_type: str
    config: ReplicaConfig
    count: int

    @property
    def replica_prefix(self) -> str:
        return f"{self.cluster_role}-replica"

    @property
    def primary(self) -> bool:
        return self.name == "master"

    @property
    def type_field(self) -> str:
        return f"{_AT}.{self.name}Type"

    @property
    def count_field(self) -> str:
        return f"{_AT}.{self.name}Count"

    @property
    def config_field(self) -> str:
        return f"{_AT}.{self.name}Config"

    @property
    def custom_request(self) -> MachineRequest:
        """Returns the machine that the request names for the role in the CUSTOM tier."""
        accelerator = self.config.accelerator_config or AcceleratorConfig()
        named = accelerator.type != AcceleratorType.ACCELERATOR_TYPE_UNSPECIFIED.name
        machine = MachineSpec(
            self.machine_type, accelerator.type if named else None, accelerator.count or 0
        )
        field = f"{self.config_field}.acceleratorConfig"
        return MachineRequest(machine, self.type_field, f"{field}.type", f"{field}.count")


def roles(training: TrainingInput) -> tuple[Role, ...]:
    """Returns all four roles as the request has them, in the order of ranks."""
    t = training
    return (
        _role("master", "master", t.master_type, t.master_config, 1),
        _role("worker", "worker", t.worker_type, t.worker_config, t.worker_count),
        _role(
            "parameterServer",
            "ps",
            t.parameter_server_type,
            t.parameter_server_config,
            t.parameter_server_count,
        ),
        _role("evaluator", "evaluator", t.evaluator_type, t.evaluator_config, t.evaluator_count),
    )


def _role(
    name: str,
    cluster_role: str,
    machine_type: str | None,
    config: ReplicaConfig | None,
    count: int | None,
) -> Role:
    return Role(name, cluster_role, machine_type or "", config or ReplicaConfig(), count or 0)


def tier_of(training: TrainingInput) -> ScaleTier:
    return ScaleTier.BASIC if training.scale_tier is None else training.scale_tier


@dataclass(frozen=True)
class Staffed:
    """A role with replicas: ``count`` of them, each with the requested machine."""

    role: Role
    request: MachineRequest
    count: int


def staffed(training: TrainingInput, catalogue: Catalogue) -> tuple[Staffed, ...]:
    """Returns the roles that have replicas; replaces invalid counts by the nearest valid ones."""
    given = roles(training)
    tier = tier_of(training)
    if tier is ScaleTier.CUSTOM:
        counted = ((role, min(role.count, MAX_REPLICAS)) for role in given)
        return tuple(Staffed(r, r.custom_request, count) for r, count in counted if count > 0)
    return tuple(_predefined(given, tier, catalogue))


def _predefined(
    given: tuple[Role, ...], tier: ScaleTier, catalogue: Catalogue
) -> Iterator[Staffed]:
    cluster = catalogue.scale_tiers.get(tier.name) or Cluster(MachineSpec(""))
    master, worker, parameter_server, _ = given
    for role, machine, count in (
        (master, cluster.master, 1),
        (worker, cluster.worker, cluster.worker_count),
        (parameter_server, cluster.parameter_server, cluster.parameter_server_count),
    ):
        if machine is not None:
            field = f"{_AT}.scaleTier"
            yield Staffed(role, MachineRequest(machine, field, field, field, tier.name), count)
