"""The environment part of a task."""

from __future__ import annotations

from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.runtime_slices import VARIABLE, Slice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Task:
    """The part of a task's JSON that matters here."""

    def __init__(self, described: dict[str, Any]) -> None:
        try:
            runtime = described["runtime"]
            self.runtime = str(runtime["name"])
            self.python = str(runtime["python"])
            self._variants = {
                str(name): [Slice(piece) for piece in slices]
                for name, slices in runtime["variants"].items()
            }
            packages = described.get("packages") or ()
            self.packages = [str(package["file"]) for package in packages]
            self.digests = [str(package.get("sha256") or "") for package in packages]
            self.preparation = str(described.get("preparation") or "")
            self.module = str(described["program"].get("module") or "")
            self._uses_gpus = described.get("gpus") is True
            self._environment = {
                str(name): str(value) for name, value in described.get("environment") or ()
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise PreparationError(
                f"the supervisor can't read its task from the server: {error!r}"
            ) from error

    @property
    def forced_slice(self) -> str:
        return self._environment.get(VARIABLE, "")

    @property
    def job(self) -> str:
        """The same for all replicas and trials of a job, and for no other job's."""
        names = ("CLOUD_ML_PROJECT_ID", "CLOUD_ML_REGION", "CLOUD_ML_JOB_ID")
        known = [self._environment.get(name, "") for name in names]
        return "/".join(known) if all(known) else ""

    @property
    def variant(self) -> str:
        """The variant of the runtime that serves this replica: ``cpu`` or ``gpu``."""
        return "gpu" if self._uses_gpus and self._variants.get("gpu") else "cpu"

    def choose_slices(self) -> tuple[list[Slice], str]:
        """Returns the slices for this replica, and a note if its GPUs stay unused.

        Raises:
            PreparationError: the runtime has none.
        """
        if self.variant == "gpu":
            return self._variants["gpu"], ""
        note = ""
        if self._uses_gpus:
            note = f"runtime {self.runtime} is for the CPU: programs in it can't use a GPU"
        slices = self._variants.get("cpu") or []
        if all(piece.fallback for piece in slices):
            raise PreparationError(f"runtime {self.runtime} has no packages for this machine")
        return slices, note
