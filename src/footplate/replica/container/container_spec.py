"""Builds the request body that creates a container."""

from __future__ import annotations

import os

from footplate.containers.leftovers import HOME_LABEL, SERVICE_LABEL
from footplate.replica.api_account import make_account
from footplate.replica.container.mounts import find_mounts
from footplate.replica.program_hooks import make_hook
from footplate.replica.program_spec import compose_container_environment, require_container

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

    from footplate.protocol.task import ContainerTask, Task
    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.context import Context
    from footplate.replica.isolation.resource_limits import Limits

HYPERTUNE_DIRECTORY = "/var/hypertune"
"""Where the file lies, inside, that cloudml-hypertune writes; Vertex AI's own place."""
DROPPED_CAPABILITIES = ("NET_RAW", "MKNOD", "AUDIT_WRITE")
_SHM_SHARE = 2
"""The share of the memory that /dev/shm may take, as Linux has it: pages count when written."""
_MIN_SHM_BYTES = 64 << 20
_HIDDEN_GPUS = {"NVIDIA_VISIBLE_DEVICES": "void"}
"""NVIDIA's runtime, where it is the default, gives GPUs to containers that name none."""
_GPU_VARIABLES = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES")
_OOM_SCORE = 500
"""Programs go before the service when the machine runs out of memory."""


def compose(context: Context, image: Mapping[str, Any], limits: Limits | None) -> dict[str, Any]:
    """Returns the container's specification for the engine's API; ``image`` is the answer of the
    image stage. Raises TaskError, OSError.
    """
    task, program = context.task, require_container(context.task)
    devices = find_devices(task, context.ticket, context.host)
    given = {} if devices else _HIDDEN_GPUS
    environment = compose_variables(context, given, str(image.get("python_path") or ""))
    host: dict[str, Any] = {
        "NetworkMode": "host",
        "IpcMode": "private",
        **_forbid_core_dumps(str(image.get("engine") or "")),
        "Mounts": find_mounts(context, HYPERTUNE_DIRECTORY),
        "LogConfig": {"Type": "none"},
        "ShmSize": _shm_bytes(limits),
        "CapDrop": list(DROPPED_CAPABILITIES),
        "SecurityOpt": security_options(),
        "OomScoreAdj": _OOM_SCORE,
        **_describe_limits(limits),
        **_request_gpus(devices, str(image.get("engine") or "")),
    }
    return {
        "Image": image["reference"],
        "Entrypoint": None if program.command is None else list(program.command),
        "Cmd": join_arguments(program, image),
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "AttachStdout": True,
        "AttachStderr": True,
        "Labels": {
            SERVICE_LABEL: context.ticket.service,
            HOME_LABEL: context.home.path,
            "io.footplate.job": task.job,
            "io.footplate.replica": task.replica,
        },
        "HostConfig": host,
    }


def compose_variables(
    context: Context, given: Mapping[str, str], python_path: str
) -> dict[str, str]:
    """Returns the variables to set over the image's ENV; ``given`` are some of them, and
    ``python_path`` is the image's PYTHONPATH. Raises TaskError, OSError.
    """
    task, tools = context.task, context.home.tools
    metrics = f"{HYPERTUNE_DIRECTORY}/output.metrics"
    environment = compose_container_environment(task, context.host, metrics, context.mark)
    environment.update(given)
    known = {"PYTHONPATH": python_path, **environment}
    environment.update(make_hook(known, task.authority, tools, HYPERTUNE_DIRECTORY))
    environment.update(make_account(task, environment, tools, HYPERTUNE_DIRECTORY))
    return environment


def join_arguments(program: ContainerTask, image: Mapping[str, Any]) -> list[str] | None:
    """Returns the job's arguments. Options follow the CMD of an image that has no ENTRYPOINT: alone
    they are no command line.
    """
    if program.args is None:
        return None
    own = list(image.get("cmd") or ())
    alone = program.args and not program.command and not image.get("entrypoint")
    return [*(own if alone and program.args[0].startswith("-") else ()), *program.args]


def _describe_limits(limits: Limits | None) -> dict[str, Any]:
    """Limits memory and swap together, as programs without a container have it."""
    if limits is None:
        return {}
    memory = limits.memory_bytes
    return {
        "Memory": memory,
        "MemorySwap": memory,
        "NanoCpus": limits.vcpus * 10**9,
        "PidsLimit": limits.processes,
    }


def _forbid_core_dumps(engine: str) -> dict[str, Any]:
    """Forbids core dumps; not to Podman, which then raises all other limits to its maximum."""
    if is_podman(engine):
        return {}
    return {"Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}]}


def is_podman(engine: str) -> bool:
    return "podman" in engine.lower()


def _shm_bytes(limits: Limits | None) -> int:
    if limits is not None:
        memory = limits.memory_bytes
    else:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(memory // _SHM_SHARE, _MIN_SHM_BYTES)


def security_options() -> list[str]:
    """Returns the security options; where SELinux is on, they keep its labels from hiding the
    host's directories.
    """
    options = ["no-new-privileges"]
    if os.path.exists("/sys/fs/selinux/enforce"):
        options.append("label=disable")
    return options


def _request_gpus(devices: Any, engine: str) -> dict[str, Any]:
    """Requests the replica's GPUs, which the container numbers from 0: by CDI with Podman."""
    ids = [str(device) for device in devices]
    if not ids:
        return {}
    if is_podman(engine):
        named = [f"nvidia.com/gpu={device}" for device in ids]
        return {"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": named}]}
    return {"DeviceRequests": [{"Driver": "", "DeviceIDs": ids, "Capabilities": [["gpu"]]}]}


def find_devices(task: Task, ticket: SupervisorTicket, host: Mapping[str, str]) -> list[str]:
    """Returns the replica's GPUs; on a node, those that its engine names.

    Slurm's own variables number the GPUs of a step as the machine does, but CUDA's from 0.
    """
    if task.devices or not ticket.launchers:
        return list(task.devices)
    found = next((host[name] for name in _GPU_VARIABLES if host.get(name)), "")
    return [word for word in found.split(",") if word.strip() not in ("", "-1", "NoDevFiles")]
