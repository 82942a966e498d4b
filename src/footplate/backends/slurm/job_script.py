"""Composes the job of an allocation: options of sbatch, and its script. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.backends.engine.engine import JobRequest, LauncherRequest

_END = "END_OF_THE_LAUNCHER"


@dataclass(frozen=True)
class SlurmSettings:
    """A region's part of Slurm.

    ``options`` are for all jobs, ``machines`` more of them by machine type, as one would write
    them after sbatch. ``python`` is the interpreter on the nodes. ``commands`` is the directory of
    Slurm's commands (empty: the server's PATH), ``environment`` what these need to know, such as
    SLURM_CONF.
    """

    partition: str = ""
    account: str = ""
    qos: str = ""
    options: str = ""
    machines: Mapping[str, str] = field(default_factory=dict)
    python: str = "python3"
    scratch: str = ""
    commands: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0
    """How long a command of Slurm's may take."""


def machine_options(settings: SlurmSettings, launchers: Sequence[LauncherRequest]) -> list[str]:
    """Those of the launchers' machine types; ``fault`` has found that they are the same."""
    found = [settings.machines.get(each.machine_type, "") for each in launchers]
    return shlex.split(found[0]) if found else []


def fault(settings: SlurmSettings, launchers: Sequence[LauncherRequest]) -> str | None:
    """A plain job of Slurm has one set of options for all of its tasks."""
    options = {settings.machines.get(e.machine_type, ""): e.machine_type for e in launchers}
    if len(options) > 1:
        types = " and ".join(sorted(kind or "no machine type" for kind in options.values()))
        return (
            f"{types} map to different options of Slurm; one job there has one set of options: "
            "map them to the same, or give all replicas one machine type"
        )
    return None


def submit_options(settings: SlurmSettings, request: JobRequest) -> list[str]:
    """What stands behind sbatch; no secret: everybody on the machine may see it."""
    launchers = request.launchers
    count = len(launchers)
    cpus = max(each.vcpus for each in launchers)
    memory_mb = max(each.memory_mb for each in launchers)
    gpus = max(each.accelerators for each in launchers)
    options = [
        "--parsable",
        "--no-requeue",
        "--no-kill",
        f"--job-name={request.name}",
        "--comment=footplate",
        f"--ntasks={count}",
        "--output=/dev/null",
        "--chdir=/",
    ]
    # A GRES is counted for each node: a replica with GPUs has a node's share for itself.
    options += [f"--nodes={count}", "--ntasks-per-node=1", f"--gres=gpu:{gpus}"] if gpus else []
    options += [f"--cpus-per-task={cpus}"] if cpus else []
    options += [f"--mem-per-cpu={-(-memory_mb // cpus)}"] if memory_mb and cpus else []
    for name in ("partition", "account", "qos"):
        value = getattr(settings, name)
        options += [f"--{name}={value}"] if value else []
    return [*options, *shlex.split(settings.options), *machine_options(settings, launchers)]


def script(settings: SlurmSettings, request: JobRequest) -> bytes:
    """One step with a launcher for each task; the end of one ends no other.

    The program reaches them through srun's standard input, so that no command line shows a token.
    """
    cpus = max(each.vcpus for each in request.launchers)
    per_task = f" --cpus-per-task={cpus}" if cpus else ""
    scratch = shlex.quote(settings.scratch) if settings.scratch else '"/tmp/footplate-$(id -u)"'
    lines = [
        "#!/bin/sh",
        f"umask 077; SCRATCH={scratch}",
        'mkdir -p "$SCRATCH/jobs"; LOG="$SCRATCH/jobs/$SLURM_JOB_ID.log"',
        (
            f"srun --kill-on-bad-exit=0 --no-kill --wait=0 --ntasks={len(request.launchers)}"
            f"{per_task} {shlex.quote(settings.python)} -I -S - >\"$LOG\" 2>&1 <<'{_END}'"
        ),
    ]
    tail = ["", _END, "CODE=$?", '[ "$CODE" = 0 ] && rm -f "$LOG"', 'exit "$CODE"', ""]
    return "\n".join(lines).encode() + b"\n" + request.program + "\n".join(tail).encode()
