"""The environment part of a task."""

from __future__ import annotations

from footplate.protocol.task import SLICE_VARIABLE
from footplate.replica.environment.errors import PreparationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.protocol.task import Slice, Task


class EnvironmentTask:
    """The part of a task that concerns its environment, for a program that runs in a runtime."""

    def __init__(self, task: Task) -> None:
        """Reads the task. Raises PreparationError."""
        if task.runtime is None:
            raise PreparationError("the task names no runtime")
        self.runtime = task.runtime.name
        self.python = task.runtime.python
        self.packages = [package.file for package in task.packages]
        self.digests = [package.sha256 for package in task.packages]
        self.preparation = task.preparation
        self.module = task.module
        self._variants = task.runtime.variants
        self._uses_gpus = task.gpus
        self._environment = task.variables

    @property
    def forced_slice(self) -> str:
        return self._environment.get(SLICE_VARIABLE, "")

    @property
    def job(self) -> str:
        """The job's key: the same for all replicas and trials of a job, and for no other job."""
        names = ("CLOUD_ML_PROJECT_ID", "CLOUD_ML_REGION", "CLOUD_ML_JOB_ID")
        known = [self._environment.get(name, "") for name in names]
        return "/".join(known) if all(known) else ""

    @property
    def variant(self) -> str:
        """The variant of the runtime that serves this replica: ``cpu`` or ``gpu``."""
        return "gpu" if self._uses_gpus and self._variants.get("gpu") else "cpu"

    def choose_slices(self) -> tuple[Sequence[Slice], str]:
        """Returns the slices for this replica, and a note if its GPUs stay unused.

        Raises:
            PreparationError: the runtime has none.
        """
        if self.variant == "gpu":
            return self._variants["gpu"], ""
        note = ""
        if self._uses_gpus:
            note = f"runtime {self.runtime} is for the CPU: programs in it can't use a GPU"
        slices = self._variants.get("cpu") or ()
        if all(piece.fallback for piece in slices):
            raise PreparationError(f"runtime {self.runtime} has no packages for this machine")
        return slices, note
