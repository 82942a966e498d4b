"""The quotas in force: those from the settings, overridden by those set at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.quotas import ANY, Limit, Quota, QuotaRules, Quotas
from footplate.ports.quotas import QuotaStore


class Source(Enum):
    """The source of a limit in force."""

    SETTINGS = "SETTINGS"
    STORED = "STORED"
    """Set while the service ran, and kept in the database."""


@dataclass(frozen=True)
class LimitInForce:
    """A limit; ``project`` and ``region`` are those of its quota, and may be ``*``."""

    amount: int
    project: str
    region: str
    source: Source


@dataclass(frozen=True)
class QuotaInForce:
    """The amounts that a project may hold in a region, and those that it holds now.

    ``used`` includes resources without a limit, and has 0 for limits of unused resources. It is
    None if project or region is ``*``, as each project and region counts separately.
    """

    project: str
    region: str
    limits: Mapping[str, LimitInForce]
    used: Mapping[str, int] | None


class EffectiveQuotas:
    """The quotas of the settings, overridden by those of the store.

    It reads the store each time, so that changes by other servers count here as well. A stored
    limit takes precedence over one of the settings for the same project, region and resource.
    """

    def __init__(
        self, store: QuotaStore, configured: Iterable[Quota], catalogue: Catalogue
    ) -> None:
        """Checks the configured quotas. Raises InvalidArgument with all faults."""
        self.store = store
        self.rules = QuotaRules.of(catalogue)
        self._configured = _checked(tuple(configured), self.rules)

    def quotas(self) -> Quotas:
        """Returns the quotas in force."""
        return self.overlay(self.store.list())

    def overlay(self, stored: tuple[Quota, ...]) -> Quotas:
        """Returns the quotas in force if the store has ``stored``."""
        return Quotas((*self._configured, *stored))


class QuotaBook:
    """Shows and changes quotas.

    ``usage`` returns the amounts that the jobs of a project in a region count now. ``changed`` is
    called after each change, to wake the admission of jobs; also after a failed one, which may have
    taken effect nevertheless.
    """

    def __init__(
        self,
        effective: EffectiveQuotas,
        usage: Callable[[str, str], Mapping[str, int]],
        changed: Callable[[], None],
    ) -> None:
        self._store = effective.store
        self._rules = effective.rules
        self._overlay = effective.overlay
        self._usage = usage
        self._changed = changed

    def list(self) -> tuple[QuotaInForce, ...]:
        """Returns the limits in force for each project and region that a quota names, in order."""
        stored = self._store.list()
        quotas = self._overlay(stored)
        return tuple(self._in_force(q.project, q.region, quotas, stored) for q in quotas)

    def get(self, project: str, region: str) -> QuotaInForce:
        """Returns the limits in force for a project in a region; ``*`` means any without a quota.

        Raises:
            InvalidArgument: the names can't be a project and a region.
        """
        return self._now(*self._scope(project, region))

    def change(self, project: str, region: str, limits: Mapping[str, object]) -> QuotaInForce:
        """Sets the given limits by resource, and leaves all others.

        None removes a limit here, so that the next less specific one applies again.

        Raises:
            InvalidArgument: has all faults; nothing was changed.
        """
        rules = self._rules.knowing(self._store.list())
        violations: list[Violation] = []
        scope = rules.scope(project, region, violations)
        changes = rules.changes(limits, violations, "limits.")
        _raise_any(violations)
        try:
            self._store.change(*scope, changes)
        finally:
            self._changed()
        return self._now(*scope)

    def remove(self, project: str, region: str) -> QuotaInForce:
        """Removes what was set for exactly this project and region; then the settings apply.

        Raises:
            InvalidArgument: the names can't be a project and a region.
        """
        scope = self._scope(project, region)
        try:
            self._store.remove(*scope)
        finally:
            self._changed()
        return self._now(*scope)

    def _scope(self, project: str, region: str) -> tuple[str, str]:
        violations: list[Violation] = []
        scope = self._rules.knowing(self._store.list()).scope(project, region, violations)
        _raise_any(violations)
        return scope

    def _now(self, project: str, region: str) -> QuotaInForce:
        stored = self._store.list()
        return self._in_force(project, region, self._overlay(stored), stored)

    def _in_force(
        self, project: str, region: str, quotas: Quotas, stored: tuple[Quota, ...]
    ) -> QuotaInForce:
        kept = {(q.project, q.region, resource) for q in stored for resource in q.limits}

        def sourced(resource: str, limit: Limit) -> LimitInForce:
            is_kept = (limit.project, limit.region, resource) in kept
            source = Source.STORED if is_kept else Source.SETTINGS
            return LimitInForce(limit.amount, limit.project, limit.region, source)

        found = sorted(quotas.in_force(project, region).items())
        limits = {resource: sourced(resource, limit) for resource, limit in found}
        return QuotaInForce(project, region, limits, self._used(project, region, limits))

    def _used(self, project: str, region: str, limits: Iterable[str]) -> Mapping[str, int] | None:
        if ANY in (project, region):
            return None
        held = {name: amount for name, amount in self._usage(project, region).items() if amount}
        return dict(sorted({**dict.fromkeys(limits, 0), **held}.items()))


def _checked(configured: tuple[Quota, ...], rules: QuotaRules) -> tuple[Quota, ...]:
    violations: list[Violation] = []
    checked: dict[tuple[str, str], Quota] = {}
    for index, quota in enumerate(configured):
        prefix = f"quotas[{index}]."
        scope = rules.scope(quota.project, quota.region, violations, prefix)
        limits = rules.limits(quota.limits, violations, prefix)
        if scope in checked:
            text = (
                f"project {scope[0]} in region {scope[1]} has two [[quotas]] tables; allowed: one"
            )
            violations.append(Violation(f"quotas[{index}]", text))
        checked[scope] = Quota(*scope, limits)
    _raise_any(violations)
    return tuple(checked.values())


def _raise_any(violations: list[Violation]) -> None:
    if violations:
        raise InvalidArgument.of(tuple(violations))
