"""Slurm behind the interface of engines, over one of the clients of Slurm."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from footplate.backends.engine.engine import EngineUnavailable, JobPhase
from footplate.backends.slurm import job_script
from footplate.backends.slurm.command_client import CommandClient
from footplate.backends.slurm.rest_client import RestClient
from footplate.ports.engines import EngineReport

if TYPE_CHECKING:
    import builtins
    from collections.abc import Sequence

    from footplate.backends.engine.engine import EngineJob, JobRequest, LauncherRequest
    from footplate.backends.slurm.client import SlurmClient
    from footplate.backends.slurm.job_script import SlurmSettings


class SlurmEngine:
    title = "Slurm"
    rank_variable = "SLURM_PROCID"
    job_variable = "SLURM_JOB_ID"
    node_variable = "SLURMD_NODENAME"

    def __init__(self, settings: SlurmSettings) -> None:
        self._settings = settings
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
        return tuple(job for job in self._client.list_jobs() if job.name.startswith(prefix))

    def find(self, job_id: str) -> EngineJob | None:
        return self._client.find_job(job_id)

    def silent_nodes(self, nodes: str) -> builtins.tuple[str, ...]:
        return self._client.silent_nodes(nodes)

    def check(self) -> EngineReport:
        try:
            status = self._client.read_status()
        except EngineUnavailable as error:
            return EngineReport(reachable=False, problems=(f"Slurm does not answer: {error}",))
        phases = Counter(job.phase for job in status.jobs)
        running, waiting = phases[JobPhase.RUNNING], phases[JobPhase.WAITING]
        queue = f"queue: {running} jobs run, {waiting} wait"
        problems = status.problems
        if not status.nodes:
            partition = self._settings.partition
            where = f"the partition {partition!r}" if partition else "Slurm"
            text = f"{where} has no nodes, or does not exist; `sinfo` lists partitions"
            problems = (*problems, text)
        return EngineReport(True, (status.version, *status.nodes, queue), problems)

    @property
    def asks_nodes(self) -> bool:
        """Returns whether ``run_on_node`` can work."""
        return self._client.asks_nodes

    def try_out(self, launcher: LauncherRequest) -> str | None:
        """Returns why Slurm would reject a job with one such launcher; None if no reason is known.

        Creates no job. Raises EngineUnavailable.
        """
        return self._client.try_out(launcher)

    def run_on_node(self, program: bytes) -> str:
        """Runs a Python program on some node, if one is free now; returns its output.

        Raises EngineUnavailable.
        """
        return self._client.run_on_node(program)
