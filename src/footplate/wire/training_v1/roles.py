"""The four roles of ml v1, as one request describes them."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.jobs import MachineSpec
from footplate.domain.scale_tiers import SCALE_TIERS
from footplate.wire.training_v1.enums import AcceleratorType, ScaleTier
from footplate.wire.training_v1.models import AcceleratorConfig, ReplicaConfig, TrainingInput


@dataclass(frozen=True)
class Role:
    """``field`` is what the names of the role's fields begin with in the request."""

    field: str
    cluster_role: str
    machine_type: str | None
    config: ReplicaConfig
    count: int

    @property
    def replica_prefix(self) -> str:
        return f"{self.cluster_role}-replica"

    def custom_machine(self) -> MachineSpec:
        """The machine that the request gives, with the CUSTOM tier."""
        accelerator = self.config.accelerator_config or AcceleratorConfig()
        kind = accelerator.type or AcceleratorType.ACCELERATOR_TYPE_UNSPECIFIED
        named = kind is not AcceleratorType.ACCELERATOR_TYPE_UNSPECIFIED
        return MachineSpec(
            self.machine_type or "", kind.name if named else None, accelerator.count or 0
        )


def roles(training: TrainingInput) -> tuple[Role, ...]:
    """All four, in the order of the ranks, as given: the counts of the tier aren't in them."""
    none = ReplicaConfig()
    return (
        Role("master", "master", training.master_type, training.master_config or none, 1),
        Role(
            "worker",
            "worker",
            training.worker_type,
            training.worker_config or none,
            training.worker_count or 0,
        ),
        Role(
            "parameterServer",
            "ps",
            training.parameter_server_type,
            training.parameter_server_config or none,
            training.parameter_server_count or 0,
        ),
        Role(
            "evaluator",
            "evaluator",
            training.evaluator_type,
            training.evaluator_config or none,
            training.evaluator_count or 0,
        ),
    )


def tier_of(training: TrainingInput) -> ScaleTier:
    return ScaleTier.BASIC if training.scale_tier is None else training.scale_tier


def machines(training: TrainingInput) -> tuple[tuple[Role, MachineSpec, int], ...]:
    """Each role that the job has, with its machine and how many of them."""
    given = roles(training)
    tier = tier_of(training)
    if tier is ScaleTier.CUSTOM:
        return tuple((role, role.custom_machine(), role.count) for role in given if role.count)
    cluster = SCALE_TIERS[tier.name]
    master, worker, parameter_server, _ = given
    found = [(master, cluster.master, 1)]
    if cluster.worker:
        found.append((worker, cluster.worker, cluster.worker_count))
    if cluster.parameter_server:
        found.append((parameter_server, cluster.parameter_server, cluster.parameter_server_count))
    return tuple(found)
