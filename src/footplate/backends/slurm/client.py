"""The operations of Slurm that the engine needs: by its commands, or by slurmrestd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from footplate.backends.engine.engine import EngineJob, JobRequest, LauncherRequest, NodeState
from footplate.backends.slurm.outputs import JobEnd, JobList


@dataclass(frozen=True)
class SlurmStatus:
    """The state of a partition: sentences about its ``nodes``, and the ``jobs`` of all users."""

    version: str
    nodes: tuple[str, ...]
    jobs: JobList
    problems: tuple[str, ...] = ()


class SlurmClient(Protocol):
    """A way to reach Slurm. Each method may raise EngineUnavailable."""

    def submit(self, request: JobRequest) -> str:
        """Submits a job; returns its id. Raises EngineRefused."""
        ...

    def cancel(self, job_id: str) -> None:
        """Cancels a job; does nothing if it has ended."""
        ...

    def list_jobs(self, prefix: str) -> JobList:
        """Returns the jobs of the submitting user, and a sentence about each job of another user
        whose name begins with ``prefix``, where Slurm lists these.
        """
        ...

    def find_job(self, job_id: str) -> EngineJob | None:
        """Returns a job of the submitting user; None if Slurm doesn't know it, or it is another
        user's.
        """
        ...

    def read_end(self, job: EngineJob) -> JobEnd:
        """Returns what Slurm keeps of the end of a job; nothing if it doesn't know the job."""
        ...

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns the nodes among ``nodes``, in Slurm's notation, that don't answer Slurm."""
        ...

    def node_states(self) -> tuple[NodeState, ...]:
        """Returns the states of all nodes."""
        ...

    def read_status(self) -> SlurmStatus: ...

    def try_out(self, launcher: LauncherRequest) -> str | None:
        """Returns why Slurm would reject a job with one such launcher; None if no reason is known.

        Creates no job.
        """
        ...

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        """Runs a Python program on some node, if one is free now; returns its output.

        Raises EngineRefused.
        """
        ...
