"""Packs a job of Ray: its files, its entry point and what it reserves."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.protocol.launcher import TITLE_ROOM
from footplate.protocol.site_variables import SITE_VARIABLES

STOP_S = 90
"""The time for what a launcher does when its job is stopped: last lines, buckets."""
_MIB = 1 << 20
_NAMED = {
    "CPU": "entrypoint_num_cpus",
    "GPU": "entrypoint_num_gpus",
    "memory": "entrypoint_memory",
}


@dataclass(frozen=True)
class RaySettings:
    """The settings of a region for its Ray cluster.

    ``address`` is the URL of the dashboard. ``machines`` has Ray's resources for each machine type,
    beside processors and memory (``{"pool_large": 1}``); those of ``*`` apply to all other types.
    """

    address: str
    python: str = "python"
    strategy: str = "PACK"
    machines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    accelerators: Mapping[str, str] = field(default_factory=dict)
    """A resource for each accelerator type, beside Ray's ``GPU``."""
    reserve: bool = True
    """Whether launchers reserve the processors and the memory of their machine types."""
    token_file: str = ""
    """The file with a bearer token for the dashboard; empty: it wants none."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of all launchers and their programs."""

    @property
    def variables(self) -> dict[str, str]:
        """Returns the variables of launchers, and which ones programs get."""
        return {**self.env, SITE_VARIABLES: " ".join(self.env)}


def describe(settings: RaySettings, request: JobRequest, package: str) -> dict[str, Any]:
    """Returns the body of a submission. ``package`` is the name of the uploaded files.

    The job of one replica is its launcher, and reserves what that needs; others are drivers.
    """
    body: dict[str, Any] = {
        "entrypoint": f"{settings.python} driver.py",
        "submission_id": request.name,
        "runtime_env": {"working_dir": f"gcs://{package}"},
        "metadata": {"started_by": "footplate"},
    }
    if len(request.launchers) > 1:
        return body
    wanted = bundle(settings, request.launchers[0])
    others = {name: amount for name, amount in wanted.items() if name not in _NAMED}
    return {
        **body,
        # Ray's shell becomes the program, which Ray signals then.
        "entrypoint": (
            f"exec {settings.python} -I -S alone.py {shlex.quote(request.name)} '{TITLE_ROOM}'"
        ),
        "runtime_env": {
            **body["runtime_env"],
            "env_vars": {**settings.variables, "RAY_JOB_STOP_WAIT_TIME_S": str(STOP_S)},
        },
        **{_NAMED[name]: amount for name, amount in wanted.items() if name in _NAMED},
        **({"entrypoint_resources": others} if others else {}),
    }


def pack(settings: RaySettings, request: JobRequest) -> bytes:
    """Returns a job's packed working directory: drivers, launchers' program, resources."""
    job = {
        "name": request.name,
        "strategy": settings.strategy,
        "bundles": [bundle(settings, launcher) for launcher in request.launchers],
        "variables": settings.variables,
    }
    folder = resources.files("footplate") / "backends" / "ray"
    files = {
        **{name: (folder / name).read_bytes() for name in ("driver.py", "alone.py")},
        "program.py": request.program,
        "job.json": json.dumps(job).encode(),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            # ``ZipInfo`` has a fixed date: the same request gives the same bytes, so a second
            # submission uploads to the same name.
            archive.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


def bundle(settings: RaySettings, launcher: LauncherRequest) -> dict[str, float]:
    """Returns the resources of one launcher: at least a part of a processor, which Ray requires."""
    found: dict[str, float] = {}
    if settings.reserve:
        if launcher.vcpus:
            found["CPU"] = launcher.vcpus
        if launcher.memory_mb:
            found["memory"] = launcher.memory_mb * _MIB
    if launcher.accelerators:
        found["GPU"] = launcher.accelerators
        special = settings.accelerators.get(launcher.accelerator_type)
        if special:
            found[special] = launcher.accelerators
    found.update(settings.machines.get(launcher.machine_type, settings.machines.get("*", {})))
    return found or {"CPU": 0.001}
