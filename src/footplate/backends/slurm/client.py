"""The operations of Slurm that the engine needs: by its commands, or by slurmrestd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from footplate.backends.engine.engine import EngineJob, JobRequest, LauncherRequest


@dataclass(frozen=True)
class SlurmStatus:
    """``nodes`` are sentences, ``jobs`` those of all users; both of the partition alone."""

    version: str
    nodes: tuple[str, ...]
    jobs: tuple[EngineJob, ...]
    problems: tuple[str, ...] = ()


class SlurmClient(Protocol):
    """The ways to Slurm. Each method may raise EngineUnavailable."""

    asks_nodes: bool
    """Whether ``run_on_node`` can work."""

    def submit(self, request: JobRequest) -> str:
        """Returns the job's id. Raises EngineRefused."""
        ...

    def cancel(self, job_id: str) -> None:
        """A job that has ended is left alone."""
        ...

    def list_jobs(self) -> tuple[EngineJob, ...]:
        """Returns the jobs of the user that submits."""
        ...

    def find_job(self, job_id: str) -> EngineJob | None: ...

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns those of ``nodes``, in Slurm's notation, that don't answer Slurm."""
        ...

    def read_status(self) -> SlurmStatus: ...

    def try_out(self, launcher: LauncherRequest) -> str | None:
        """Returns why Slurm would not take a job with one such launcher; None if that isn't known.

        Makes no job.
        """
        ...

    def run_on_node(self, program: bytes) -> str:
        """Returns what a Python program prints on some node, if one is free now."""
        ...
