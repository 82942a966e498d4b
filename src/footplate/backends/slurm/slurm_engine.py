"""Slurm behind the interface of engines: its commands, with a limit on their time."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from footplate.backends.engine.engine import (
    EngineRefused,
    EngineReport,
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
)
from footplate.backends.slurm import job_script, outputs

if TYPE_CHECKING:
    import builtins
    from collections.abc import Sequence

    from footplate.backends.engine.engine import EngineJob
    from footplate.backends.slurm.job_script import SlurmSettings

_FREE_S = 10
"""How long a node that answers a question is waited for."""
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "LD_LIBRARY_PATH")
"""What Slurm's commands see of the server's environment: sbatch hands it on to the job."""


class CommandFailed(Exception):
    """A command of Slurm's says no; the message is its last line."""


class SlurmEngine:
    title = "Slurm"
    rank_variable = "SLURM_PROCID"
    job_variable = "SLURM_JOB_ID"
    node_variable = "SLURMD_NODENAME"

    def __init__(self, settings: SlurmSettings) -> None:
        self._settings = settings
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._environment = {**environment, "LC_ALL": "C", **settings.environment}

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:
        return job_script.fault(self._settings, launchers)

    def submit(self, request: JobRequest) -> str:
        options = job_script.submit_options(self._settings, request)
        try:
            answer = self._run("sbatch", *options, given=job_script.script(self._settings, request))
        except CommandFailed as error:
            if outputs.is_refusal(str(error)):
                raise EngineRefused(str(error)) from error
            raise EngineUnavailable(str(error)) from error
        job_id = outputs.last_line(answer).partition(";")[0]
        if not job_id.isdigit():
            raise EngineUnavailable(f"sbatch says {answer[:100]!r}")
        return job_id

    def cancel(self, job_id: str) -> None:
        self._ask("scancel", "--quiet", job_id)

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        found = self._ask(
            "squeue", "--noheader", "-t", "all", "-u", str(os.getuid()), "-o", outputs.SQUEUE_FORMAT
        )
        try:
            return tuple(job for job in outputs.read_jobs(found) if job.name.startswith(prefix))
        except ValueError as error:
            raise EngineUnavailable(str(error)) from error

    def find(self, job_id: str) -> EngineJob | None:
        try:
            return outputs.read_job_record(
                self._run("scontrol", "show", "job", job_id, "--oneliner")
            )
        except CommandFailed as error:
            if outputs.is_unknown_job(str(error)):
                return None
            raise EngineUnavailable(str(error)) from error
        except ValueError as error:
            raise EngineUnavailable(str(error)) from error

    def silent_nodes(self, nodes: str) -> builtins.tuple[str, ...]:
        return outputs.silent_nodes(self._ask("sinfo", "-h", "-N", "-n", nodes, "-o", "%N|%T"))

    def check(self) -> EngineReport:
        partition = self._settings.partition
        only = ("-p", partition) if partition else ()
        try:
            version = outputs.last_line(self._run("sinfo", "--version"))
            self._run("scontrol", "ping")
            nodes = outputs.describe_nodes(
                self._ask("sinfo", "-h", "-N", *only, "-o", outputs.NODE_FORMAT)
            )
            jobs = outputs.read_jobs(
                self._ask("squeue", "--noheader", *only, "-o", outputs.SQUEUE_FORMAT)
            )
        except (CommandFailed, EngineUnavailable, ValueError) as error:
            return EngineReport(reachable=False, problems=(f"Slurm does not answer: {error}",))
        waiting = sum(job.phase is JobPhase.WAITING for job in jobs)
        queue = f"queue: {len(jobs) - waiting} jobs run, {waiting} wait"
        problems: builtins.tuple[str, ...] = ()
        if not nodes:
            where = f"the partition {partition!r}" if partition else "Slurm"
            problems = (f"{where} has no nodes, or does not exist; `sinfo` lists partitions",)
        return EngineReport(True, (version, *nodes, queue), problems)

    def try_out(self, launcher: LauncherRequest) -> str | None:
        """Why Slurm would not take a job with one such launcher; None: it would. Makes no job.

        Raises EngineUnavailable.
        """
        request = JobRequest("footplate-check", "", (launcher,), b"")
        options = job_script.submit_options(self._settings, request)
        try:
            self._run("sbatch", "--test-only", *options, given=b"#!/bin/sh\n")
        except CommandFailed as error:
            return str(error)
        return None

    def run_on_node(self, program: bytes) -> str:
        """What a Python program prints on some node, if one is free now.

        Raises EngineUnavailable.
        """
        launchers = (LauncherRequest("", vcpus=1),)
        options = job_script.node_options(self._settings, launchers)
        python = (self._settings.python, "-I", "-S", "-")
        given = ("srun", f"--immediate={_FREE_S}", "--quiet", *options, *python)
        try:
            return self._run(*given, given=program)
        except CommandFailed as error:
            raise EngineUnavailable(str(error)) from error

    def _ask(self, *command: str) -> str:
        try:
            return self._run(*command)
        except CommandFailed as error:
            raise EngineUnavailable(str(error)) from error

    def _run(self, *command: str, given: bytes = b"") -> str:
        """Raises CommandFailed, EngineUnavailable (no answer in time, or no such command)."""
        name = os.path.join(self._settings.commands, command[0])  # noqa: PTH118  may be empty
        try:
            done = subprocess.run(
                [name, *command[1:]],
                input=given,
                capture_output=True,
                timeout=self._settings.timeout_s,
                env=self._environment,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            limit_s = self._settings.timeout_s
            raise EngineUnavailable(f"{command[0]} took longer than {limit_s:g} s") from error
        except OSError as error:
            raise EngineUnavailable(f"{command[0]} can't be run: {error.strerror}") from error
        if done.returncode:
            said = outputs.last_line(done.stderr.decode(errors="replace"))
            raise CommandFailed(said or f"{command[0]} ended with {done.returncode}")
        return done.stdout.decode(errors="replace")
