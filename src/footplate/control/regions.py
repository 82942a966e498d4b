"""The backend and the capacity of each region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from footplate.domain.errors import Violation
from footplate.domain.sites import Site
from footplate.ports.backend import Backend, ReplicaMachine
from footplate.ports.engines import SLURM_LABELS, EngineReport


@dataclass(frozen=True)
class Binding:
    """A backend, and the site on which it starts replicas.

    ``kind`` is the backend's name in the settings, ``where`` the part of an engine that serves the
    region. ``check`` asks the engine, which may take long; None: there is no engine. ``fault``
    returns, without asking the engine, why it can never provide the replicas' machines; None: it
    can. ``probe`` runs a short job on a node, and reports what that found.
    ``labels`` are those by which a job may choose what the engine does with it.
    """

    backend: Backend
    site: Site
    kind: str = "local"
    where: str = "this machine"
    check: Callable[[], EngineReport] | None = None
    fault: Callable[[Mapping[str, ReplicaMachine]], str | None] = lambda _: None
    probe: Callable[[], EngineReport] | None = None
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Regions:
    """The bindings of regions; those without their own binding share the ``default`` one."""

    default: Binding
    bound: Mapping[str, Binding] = field(default_factory=dict)

    def backend(self, region: str) -> Backend:
        return self._binding(region).backend

    def site(self, region: str) -> Site:
        return self._binding(region).site

    def fault(self, region: str, machines: Mapping[str, ReplicaMachine]) -> str | None:
        """Returns why the backend can never start a job with these machines; None if it can."""
        return self._binding(region).fault(machines)

    def label_violations(self, region: str, labels: Mapping[str, str]) -> Iterator[Violation]:
        """Yields labels for engines that the region doesn't admit, and those without a value."""
        admitted = self._binding(region).labels
        for label, value in labels.items():
            if label.startswith(SLURM_LABELS) and label not in admitted:
                allowed = ", ".join(sorted(admitted)) or "none of these labels"
                text = f"region {region} doesn't admit this label; allowed: {allowed}"
                yield Violation(f"labels.{label}", text)
            elif label in admitted and not value:
                yield Violation(f"labels.{label}", "nothing given; allowed: a name that Slurm has")

    def backends(self) -> tuple[Backend, ...]:
        """Returns each backend once."""
        return tuple({id(b.backend): b.backend for b in self._bindings()}.values())

    def sites(self) -> tuple[Site, ...]:
        """Returns each site once; sites are the same if they have the same name."""
        return tuple({b.site.name: b.site for b in self._bindings()}.values())

    def _binding(self, region: str) -> Binding:
        return self.bound.get(region, self.default)

    def _bindings(self) -> tuple[Binding, ...]:
        return (self.default, *self.bound.values())
