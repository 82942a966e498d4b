"""Slurm behind the interface of engines, over one of the clients of Slurm."""

from __future__ import annotations

import builtins
import os
import pwd
import subprocess
from collections import Counter
from collections.abc import Sequence

from footplate.backends.engine.engine import (
    EngineJob,
    EngineRefused,
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
    NodeState,
)
from footplate.backends.slurm import job_script, nodes, outputs
from footplate.backends.slurm.client import SlurmClient, SlurmStatus
from footplate.backends.slurm.job_script import SlurmSettings
from footplate.backends.slurm.outputs import JobEnd
from footplate.backends.slurm.rest_client import RestClient
from footplate.backends.slurm.time_limits import Limits, PartitionLimits, read_partitions
from footplate.domain.formatting import last_line
from footplate.ports.backend import EndCause
from footplate.ports.engines import EngineReport

# Slurm by its own commands, with a limit on their time.

_FREE_S = 10
"""How long a node that answers a question is waited for."""
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "LD_LIBRARY_PATH")
"""What Slurm's commands see of the server's environment: sbatch hands it on to the job."""


class CommandFailed(Exception):
    """A command of Slurm failed; the message is its last line."""


class CommandClient:
    def __init__(self, settings: SlurmSettings) -> None:
        self._settings = settings
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._environment = {**environment, "LC_ALL": "C", **settings.environment}
        self._limits = PartitionLimits(settings, self._read_limits)
        self._by_task: bool | None = None
        self._asking_environment = {**self._environment, "SLURM_TIME_FORMAT": "%s"}
        """The same, with moments as Unix time; sbatch would pass it on to the job."""

    def submit(self, request: JobRequest) -> str:
        parts = job_script.split(self._settings, request.launchers)
        shares = any(job_script.gpus_of_each(self._settings, part) for part in parts)
        by_task = shares and self._counts_by_task()
        options = job_script.all_options(
            self._settings, request, self._limits.choose_minutes, by_task=by_task
        )
        try:
            answer = self._run("sbatch", *options, given=job_script.script(self._settings, request))
        except CommandFailed as error:
            if outputs.is_refusal(str(error)):
                raise EngineRefused(str(error)) from error
            raise EngineUnavailable(str(error)) from error
        job_id = last_line(answer).partition(";")[0]
        if not job_id.isdigit():
            raise EngineUnavailable(f"sbatch says {answer[:100]!r}")
        return job_id

    def _counts_by_task(self) -> bool:
        """Returns whether Slurm counts GPUs for each task, which one of its plugins alone does."""
        if self._by_task is None:
            self._by_task = "select/cons_tres" in self._ask("scontrol", "show", "config")
        return self._by_task

    def cancel(self, job_id: str) -> None:
        self._ask("scancel", "--quiet", job_id)

    def list_jobs(self, prefix: str) -> outputs.JobList:  # noqa: ARG002  as all
        return self._queue("-t", "all", "-u", str(os.getuid()))

    def find_job(self, job_id: str) -> EngineJob | None:
        text = self._show(job_id)
        try:
            return outputs.read_job_record(text, os.getuid()) if text else None
        except ValueError as error:
            raise EngineUnavailable(str(error)) from error

    def read_end(self, job: EngineJob) -> JobEnd:
        if job.cause is EndCause.CANCELLED:
            return JobEnd(user=self._read_canceller(job.id))
        return outputs.read_end(self._show(job.id))

    def _read_canceller(self, job_id: str) -> str:
        """Returns who cancelled a job; empty without accounting, which alone knows it."""
        options = ("--noheader", "--parsable2", "--allocations", "--format=State")
        try:
            uid = outputs.read_canceller(self._run("sacct", *options, "--jobs", job_id))
            return "" if uid is None else pwd.getpwuid(uid).pw_name
        except KeyError:
            return f"user {uid}"
        except (CommandFailed, EngineUnavailable):
            return ""

    def _show(self, job_id: str) -> str:
        """Returns the record of a job; empty if Slurm doesn't know it."""
        try:
            return self._run("scontrol", "show", "job", job_id, "--oneliner")
        except CommandFailed as error:
            if outputs.is_unknown_job(str(error)):
                return ""
            raise EngineUnavailable(str(error)) from error

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        text = self._ask("sinfo", "-a", "-h", "-N", "-n", nodes, "-o", "%N|%T")
        try:
            return outputs.silent_nodes(text, nodes)
        except ValueError as error:
            raise EngineUnavailable(str(error)) from error

    def node_states(self) -> tuple[NodeState, ...]:
        text = self._ask("scontrol", "show", "node", "--all", "--oneliner")
        return tuple(map(nodes.see_state, outputs.read_nodes(text)))

    def read_status(self) -> SlurmStatus:
        partition = self._settings.partition
        only = ("-p", partition) if partition else ()
        version = last_line(self._ask("sinfo", "--version"))
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

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        options = job_script.node_options(self._settings, launcher)
        given = job_script.node_script(self._settings, program)
        command = ("srun", f"--immediate={_FREE_S}", "--quiet", *options, job_script.BASH)
        try:
            return self._run(*command, given=given)
        except CommandFailed as error:
            if outputs.is_refusal(str(error)):
                raise EngineRefused(str(error)) from error
            raise EngineUnavailable(str(error)) from error

    def _read_limits(self) -> Limits:
        return read_partitions(self._ask("sinfo", "--noheader", "-a", "-o", "%P|%l"))

    def _queue(self, *options: str) -> outputs.JobList:
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
                env=self._environment if command[0] == "sbatch" else self._asking_environment,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            limit_s = self._settings.timeout_s
            raise EngineUnavailable(f"{command[0]} took longer than {limit_s:g} s") from error
        except OSError as error:
            raise EngineUnavailable(f"{command[0]} can't be run: {error.strerror}") from error
        if done.returncode:
            said = last_line(done.stderr.decode(errors="replace"))
            raise CommandFailed(said or f"{command[0]} ended with {done.returncode}")
        return done.stdout.decode(errors="replace")


class SlurmEngine:
    title = "Slurm"
    rank_variable = "SLURM_PROCID"
    job_variable = "SLURM_JOB_ID"
    node_variable = "SLURMD_NODENAME"

    def __init__(self, settings: SlurmSettings) -> None:
        self._settings = settings
        self.oddities: builtins.tuple[str, ...] = ()
        self._client: SlurmClient = (
            RestClient(settings, settings.server) if settings.server else CommandClient(settings)
        )

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:
        return job_script.fault(self._settings, launchers)

    def submit(self, request: JobRequest) -> str:
        return self._client.submit(request)

    def cancel(self, job_id: str) -> None:
        self._client.cancel(job_id)

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        found = self._client.list_jobs(prefix)
        self.oddities = found.oddities
        return tuple(job for job in found.jobs if job.name.startswith(prefix))

    def find(self, job_id: str) -> EngineJob | None:
        return self._client.find_job(job_id)

    def silent_nodes(self, nodes: str) -> builtins.tuple[str, ...]:
        return self._client.silent_nodes(nodes)

    def may_be_of(self, job_id: str, project: str) -> bool:  # noqa: ARG002  as all
        return True

    def explain(self, job: EngineJob) -> EngineJob:
        if job.lost or job.cause not in (EndCause.UNKNOWN, EndCause.CANCELLED):
            return job
        return outputs.explain_end(job, self._client.read_end(job))

    def node_states(self, names: Sequence[str]) -> builtins.tuple[NodeState, ...]:
        wanted = frozenset(names)
        return tuple(state for state in self._client.node_states() if state.name in wanted)

    def check(self) -> EngineReport:
        try:
            status = self._client.read_status()
        except EngineUnavailable as error:
            return EngineReport(reachable=False, problems=(f"Slurm does not answer: {error}",))
        phases = Counter(job.phase for job in status.jobs.jobs)
        running, waiting = phases[JobPhase.RUNNING], phases[JobPhase.WAITING]
        queue = f"queue: {running} jobs run, {waiting} wait"
        facts = (f"version: {status.version}", *group_nodes(status.nodes), queue)
        problems = (*status.problems, *status.jobs.oddities)
        if not status.nodes:
            partition = self._settings.partition
            where = f"the partition {partition!r}" if partition else "Slurm"
            text = f"{where} has no nodes, or does not exist; `sinfo` lists partitions"
            problems = (*problems, text)
        return EngineReport(True, facts, problems)

    def try_out(self, launcher: LauncherRequest) -> str | None:
        """Returns why Slurm would reject a job with one such launcher; None if no reason is known.

        Creates no job. Raises EngineUnavailable.
        """
        return self._client.try_out(launcher)

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        return self._client.run_on_node(program, launcher)


def group_nodes(nodes: Sequence[str]) -> builtins.tuple[str, ...]:
    """Returns a line for each kind of node, from sentences such as ``n1: idle, 64 CPUs``."""
    kinds = Counter(node.partition(": ")[2] for node in nodes)
    return tuple(f"nodes: {count} {kind}" for kind, count in kinds.most_common())
