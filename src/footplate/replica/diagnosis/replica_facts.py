"""Facts about the failed replica."""

from __future__ import annotations

import os

from footplate.protocol.task import CommandTask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from footplate.protocol.task import Task


class ReplicaFacts:
    """The facts about a replica that help to explain its failure.

    ``environments`` are the roots in which its packages lie, the user's own first. ``job`` is the
    resource's name. ``variables`` are the names of the variables that the task sets, ``texts``
    their values and the program's arguments.

    ``memory`` is a phrase: how much memory the program held, and how much there is. ``places``
    leads from beginnings of paths, as the program sees them, to the paths on the host.
    """

    def __init__(
        self,
        runtime: str = "",
        module: str = "",
        environments: Sequence[str] = (),
        memory: str = "",
        places: Mapping[str, str] | None = None,
        job: str = "",
        variables: Sequence[str] = (),
        texts: Sequence[str] = (),
    ) -> None:
        self.runtime = runtime
        self.module = module
        self.environments = environments
        self.memory = memory
        self.places = dict(places or {})
        self.job = job
        self.variables = variables
        self.texts = texts

    @classmethod
    def of_task(cls, task: Task, **known: Any) -> ReplicaFacts:
        values = [value for _, value in task.environment]
        arguments = () if isinstance(task.program, CommandTask) else task.program.args or ()
        return cls(
            "" if task.runtime is None else task.runtime.name,
            task.module,
            job=task.job,
            variables=[name for name, _ in task.environment],
            texts=[*values, *arguments],
            **known,
        )

    @property
    def is_vertex(self) -> bool:
        """Says whether the job came by aiplatform v1, whose jobs can set variables."""
        return "/locations/" in self.job

    @property
    def sites(self) -> list[str]:
        """The directories in which installed packages lie."""
        found = []
        for root in dict.fromkeys(self.environments):
            library = os.path.join(root, "lib")
            try:
                names = sorted(os.listdir(library))
            except OSError:  # an advice less
                continue
            sites = [os.path.join(library, name, "site-packages") for name in names]
            found += [site for site in sites if os.path.isdir(site)]
        return found

    @property
    def where(self) -> str:
        return f"runtime {self.runtime}" if self.runtime else "its environment"

    def real_path(self, path: str) -> str:
        """Returns the host's path for a path of the program."""
        for beginning, real in self.places.items():
            if path == beginning or path.startswith(f"{beginning}/"):
                return real + path[len(beginning) :]
        return path
