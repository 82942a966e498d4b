"""The catalogue as one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from footplate.domain.catalogue import (
    Accelerator,
    Catalogue,
    DeviceLimit,
    MachineType,
    Region,
    ScaleTier,
)
from footplate.domain.jobs import MachineSpec
from footplate.domain.runtimes import Offer
from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from pydantic import JsonValue


def encode_catalogue(catalogue: Catalogue) -> JsonObject:
    """Returns the catalogue as lists, by kind; inapplicable attributes are left out.

    ``own`` is true if the operator added the name.
    """
    regions = catalogue.regions.values()
    return {
        "machineTypes": [
            {**_machine_type(found), **_own(found.name, catalogue)}
            for found in catalogue.machine_types.values()
        ],
        "accelerators": [
            {
                **_accelerator(found),
                "regions": [r.name for r in regions if found.name in r.accelerators],
                **_own(found.name, catalogue),
            }
            for found in catalogue.accelerators.values()
        ],
        "regions": [{**_region(found), **_own(found.name, catalogue)} for found in regions],
        "scaleTiers": [
            {**_scale_tier(name, tier), **_own(name, catalogue)}
            for name, tier in catalogue.scale_tiers.items()
        ],
        "runtimes": [
            {**_runtime(offer), **_own(offer.runtime.name, catalogue)}
            for offer in catalogue.runtimes.offers
        ],
    }


def _own(name: str, catalogue: Catalogue) -> JsonObject:
    return {"own": True} if name in catalogue.own else {}


def _machine_type(machine: MachineType) -> JsonObject:
    found: dict[str, JsonValue] = {
        "name": machine.name,
        "family": machine.family.value,
        "vcpus": machine.vcpus,
        "memoryGb": _number(machine.memory_gb),
        "accelerators": {name: list(counts) for name, counts in machine.accelerators.items()},
        "like": machine.like,
        "egressGbps": _number(machine.egress_gbps),
    }
    if machine.included is not None:
        name, count = machine.included
        found["included"] = {"accelerator": name, "count": count}
    return _given(found)


def _accelerator(accelerator: Accelerator) -> JsonObject:
    return _given(
        {
            "name": accelerator.name,
            "kind": accelerator.kind.value,
            "memoryGb": _number(accelerator.memory_gb),
            "limits": [_limit(limit) for limit in accelerator.limits],
        }
    )


def _limit(limit: DeviceLimit) -> JsonObject:
    found: dict[str, JsonValue] = {
        "count": limit.count,
        "vcpus": limit.vcpus,
        "memoryGb": _number(limit.memory_gb),
    }
    return _given(found)


def _region(region: Region) -> JsonObject:
    zones: JsonObject = {zone.name: [*sorted(zone.accelerators)] for zone in region.zones}
    return {
        "name": region.name,
        "zones": zones,
        "accelerators": [*sorted(region.accelerators)],
    }


def _scale_tier(name: str, tier: ScaleTier) -> JsonObject:
    found: dict[str, JsonValue] = {"name": name, "master": _machine(tier.master)}
    for role, machine, count in (
        ("worker", tier.worker, tier.worker_count),
        ("parameterServer", tier.parameter_server, tier.parameter_server_count),
    ):
        if machine is not None:
            found[role] = {**_machine(machine), "count": count}
    return found


def _machine(machine: MachineSpec) -> JsonObject:
    return _given(
        {
            "machineType": machine.machine_type,
            "acceleratorType": machine.accelerator_type,
            "acceleratorCount": machine.accelerator_count or None,
        }
    )


def _runtime(offer: Offer) -> JsonObject:
    return {
        "name": offer.runtime.name,
        "python": offer.runtime.python,
        "versions": [*offer.versions],
        "images": [*offer.images],
    }


def _number(value: float | None) -> float | None:
    """Returns the number as an integer if it is a whole one."""
    return int(value) if value is not None and value == int(value) else value


def _given(found: Mapping[str, JsonValue]) -> JsonObject:
    return {key: value for key, value in found.items() if value not in (None, {}, [])}
