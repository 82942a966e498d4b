"""The messages of persistent resources of aiplatform v1."""

from typing import ClassVar

from pydantic import JsonValue

from footplate.wire.json_model import JsonModel
from footplate.wire.scalars import Flag, Int64, Text
from footplate.wire.vertex_v1.models import DiskSpec, EncryptionSpec, MachineSpec


class AutoscalingSpec(JsonModel):
    min_replica_count: Int64 | None = None
    max_replica_count: Int64 | None = None


class ResourcePool(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset({"used_replica_count"})
    id: Text | None = None
    machine_spec: MachineSpec | None = None
    replica_count: Int64 | None = None
    disk_spec: DiskSpec | None = None
    autoscaling_spec: AutoscalingSpec | None = None

    @property
    def machines(self) -> int:
        """Returns the number of reserved machines: with autoscaling the largest number."""
        scaling = self.autoscaling_spec
        most = scaling.max_replica_count if scaling is not None else None
        return most or self.replica_count or 0


class ServiceAccountSpec(JsonModel):
    enable_custom_service_account: Flag | None = None
    service_account: Text | None = None


class ResourceRuntimeSpec(JsonModel):
    service_account_spec: ServiceAccountSpec | None = None
    ray_spec: JsonValue = None


class PersistentResource(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {
            "name",
            "state",
            "error",
            "create_time",
            "start_time",
            "update_time",
            "resource_runtime",
            "satisfies_pzs",
            "satisfies_pzi",
        }
    )
    display_name: Text | None = None
    resource_pools: list[ResourcePool] | None = None
    labels: dict[str, Text] | None = None
    network: Text | None = None
    psc_interface_config: dict[str, JsonValue] | None = None
    encryption_spec: EncryptionSpec | None = None
    resource_runtime_spec: ResourceRuntimeSpec | None = None
    reserved_ip_ranges: list[Text] | None = None
