"""Slurm by its own commands, with a limit on their time."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from footplate.backends.engine.engine import (
    EngineRefused,
    EngineUnavailable,
    JobRequest,
    LauncherRequest,
)
from footplate.backends.slurm import job_script, outputs
from footplate.backends.slurm.client import SlurmStatus

if TYPE_CHECKING:
    from footplate.backends.engine.engine import EngineJob
    from footplate.backends.slurm.job_script import SlurmSettings

_FREE_S = 10
"""How long a node that answers a question is waited for."""
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "LD_LIBRARY_PATH", "FOOTPLATE_OPEN_FILES")
"""What Slurm's commands see of the server's environment: sbatch hands it on to the job."""


class CommandFailed(Exception):
    """A command of Slurm failed; the message is its last line."""


class CommandClient:
    asks_nodes = True

    def __init__(self, settings: SlurmSettings) -> None:
        self._settings = settings
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._environment = {**environment, "LC_ALL": "C", **settings.environment}

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

    def list_jobs(self) -> tuple[EngineJob, ...]:
        return self._queue("-t", "all", "-u", str(os.getuid()))

    def find_job(self, job_id: str) -> EngineJob | None:
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

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        text = self._ask("sinfo", "-a", "-h", "-N", "-n", nodes, "-o", "%N|%T")
        try:
            return outputs.silent_nodes(text, nodes)
        except ValueError as error:
            raise EngineUnavailable(str(error)) from error

    def read_status(self) -> SlurmStatus:
        partition = self._settings.partition
        only = ("-p", partition) if partition else ()
        version = outputs.last_line(self._ask("sinfo", "--version"))
        self._ask("scontrol", "ping")
        nodes = self._ask("sinfo", "-h", "-N", *only, "-o", outputs.NODE_FORMAT)
        return SlurmStatus(version, outputs.describe_nodes(nodes), self._queue(*only))

    def try_out(self, launcher: LauncherRequest) -> str | None:
        request = JobRequest("footplate-check", "", (launcher,), b"")
        options = job_script.submit_options(self._settings, request)
        try:
            self._run("sbatch", "--test-only", *options, given=b"#!/bin/sh\n")
        except CommandFailed as error:
            return str(error)
        return None

    def run_on_node(self, program: bytes) -> str:
        launchers = (LauncherRequest("", vcpus=1),)
        options = job_script.node_options(self._settings, launchers)
        python = (self._settings.python, "-I", "-S", "-")
        given = ("srun", f"--immediate={_FREE_S}", "--quiet", *options, *python)
        try:
            return self._run(*given, given=program)
        except CommandFailed as error:
            raise EngineUnavailable(str(error)) from error

    def _queue(self, *options: str) -> tuple[EngineJob, ...]:
        text = self._ask("squeue", "--noheader", *options, "-o", outputs.SQUEUE_FORMAT)
        try:
            return outputs.read_jobs(text)
        except ValueError as error:
            raise EngineUnavailable(str(error)) from error

    def _ask(self, *command: str) -> str:
        try:
            return self._run(*command)
        except CommandFailed as error:
            raise EngineUnavailable(str(error)) from error

    def _run(self, *command: str, given: bytes = b"") -> str:
        """Runs a command of Slurm; returns its output.

        Raises CommandFailed, and EngineUnavailable without an answer in time or without the
        command.
        """
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
