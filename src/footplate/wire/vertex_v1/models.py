"""The request messages of aiplatform v1 jobs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import JsonValue

from footplate.wire.json_model import OWN_OUTPUT, JsonModel
from footplate.wire.scalars import Duration, Flag, Int32, Int64, Text
from footplate.wire.vertex_v1.enums import AcceleratorType, ReservationAffinityType, Strategy
from footplate.wire.vertex_v1.study_models import StudySpec


class EnvVar(JsonModel):
    name: Text | None = None
    value: Text | None = None


class ContainerSpec(JsonModel):
    image_uri: Text | None = None
    command: list[Text] | None = None
    args: list[Text] | None = None
    env: list[EnvVar] | None = None


class PythonPackageSpec(JsonModel):
    executor_image_uri: Text | None = None
    package_uris: list[Text] | None = None
    python_module: Text | None = None
    args: list[Text] | None = None
    env: list[EnvVar] | None = None


class ReservationAffinity(JsonModel):
    reservation_affinity_type: ReservationAffinityType | None = None
    key: Text | None = None
    values: list[Text] | None = None


class MachineSpec(JsonModel):
    WITHOUT_EFFECT: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "min_gpu_driver_version": "jobs use the driver of the machine",
            "multihost_gpu_node_count": "only deployed models use this field",
        }
    )
    machine_type: Text | None = None
    accelerator_type: AcceleratorType | None = None
    accelerator_count: Int32 | None = None
    tpu_topology: Text | None = None
    reservation_affinity: ReservationAffinity | None = None
    gpu_partition_size: Text | None = None


class NfsMount(JsonModel):
    server: Text | None = None
    path: Text | None = None
    mount_point: Text | None = None


class LustreMount(JsonModel):
    instance_ip: Text | None = None
    volume_handle: Text | None = None
    filesystem: Text | None = None
    mount_point: Text | None = None


class DiskSpec(JsonModel):
    boot_disk_type: Text | None = None
    boot_disk_size_gb: Int32 | None = None


class WorkerPoolSpec(JsonModel):
    container_spec: ContainerSpec | None = None
    python_package_spec: PythonPackageSpec | None = None
    machine_spec: MachineSpec | None = None
    replica_count: Int64 | None = None
    nfs_mounts: list[NfsMount] | None = None
    lustre_mounts: list[LustreMount] | None = None
    disk_spec: DiskSpec | None = None

    @property
    def unused(self) -> bool:
        """Returns whether the pool is an empty object, which stands for a pool that the job lacks.

        In proto3 a pool whose only field is a count of 0 is empty, too.
        """
        return self.model_fields_set <= {"replica_count"} and not self.replica_count


class Scheduling(JsonModel):
    timeout: Duration | None = None
    restart_job_on_worker_restart: Flag | None = None
    strategy: Strategy | None = None
    disable_retries: Flag | None = None
    max_wait_duration: Duration | None = None


class GcsDestination(JsonModel):
    output_uri_prefix: Text | None = None


class EncryptionSpec(JsonModel):
    kms_key_name: Text | None = None


class CustomJobSpec(JsonModel):
    worker_pool_specs: list[WorkerPoolSpec] | None = None
    scheduling: Scheduling | None = None
    service_account: Text | None = None
    network: Text | None = None
    base_output_directory: GcsDestination | None = None
    tensorboard: Text | None = None
    enable_web_access: Flag | None = None
    reserved_ip_ranges: list[Text] | None = None
    persistent_resource_id: Text | None = None
    enable_dashboard_access: Flag | None = None
    experiment: Text | None = None
    experiment_run: Text | None = None
    protected_artifact_location_id: Text | None = None
    models: list[Text] | None = None
    psc_interface_config: dict[str, JsonValue] | None = None


_ADDED_BY_THE_SERVICE = frozenset(
    {
        "name",
        "state",
        "create_time",
        "start_time",
        "end_time",
        "update_time",
        "error",
        "satisfies_pzs",
        "satisfies_pzi",
        *OWN_OUTPUT,
    }
)


class CustomJob(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = _ADDED_BY_THE_SERVICE | {"web_access_uris"}
    display_name: Text | None = None
    job_spec: CustomJobSpec | None = None
    labels: dict[str, Text] | None = None
    encryption_spec: EncryptionSpec | None = None


class HyperparameterTuningJob(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = _ADDED_BY_THE_SERVICE | {"trials"}
    display_name: Text | None = None
    study_spec: StudySpec | None = None
    max_trial_count: Int32 | None = None
    parallel_trial_count: Int32 | None = None
    max_failed_trial_count: Int32 | None = None
    trial_job_spec: CustomJobSpec | None = None
    labels: dict[str, Text] | None = None
    encryption_spec: EncryptionSpec | None = None
