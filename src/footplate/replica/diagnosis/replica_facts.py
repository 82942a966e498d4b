"""Facts about the failed replica."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence


class ReplicaFacts:
    """``environments`` are the roots in which its packages lie, the user's own first.

    ``job`` is the resource's name, ``variables`` are the names of those that the task sets,
    ``texts`` their values and the program's arguments.
    ``memory`` says in words what it held and what there is. ``places`` lead from the beginnings
    of paths as the program sees them to where they are.
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
    def of_task(cls, task: Mapping[str, Any], **known: Any) -> ReplicaFacts:
        runtime, program = task.get("runtime"), task.get("program")
        name = runtime.get("name") if isinstance(runtime, dict) else ""
        module = program.get("module") if isinstance(program, dict) else ""
        pairs = [pair for pair in task.get("environment") or () if pair]
        arguments = program.get("args") if isinstance(program, dict) else ()
        known.update(
            job=str(task.get("job") or ""),
            variables=[str(pair[0]) for pair in pairs],
            texts=[str(pair[-1]) for pair in pairs] + [str(each) for each in arguments or ()],
        )
        return cls(str(name or ""), str(module or ""), **known)

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
        """Returns where on the host a path of the program is."""
        for beginning, real in self.places.items():
            if path == beginning or path.startswith(f"{beginning}/"):
                return real + path[len(beginning) :]
        return path
