"""The quotas in force: those from the settings, overridden by those set at run time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.quotas import ANY, Quota, QuotaRules, Quotas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.quotas import Limit
    from footplate.ports.quotas import QuotaStore


class Source(Enum):
    """The source of a limit."""

    SETTINGS = "SETTINGS"
    STORED = "STORED"
    """Set while the service ran, and kept in the database."""


@dataclass(frozen=True)
class LimitInForce:
    """``project`` and ``region`` are those of the quota that sets it; either may be ``*``."""

    amount: int
    project: str
    region: str
    source: Source


@dataclass(frozen=True)
class QuotaInForce:
    """The amounts that a project may hold in a region, and holds now.

    ``used`` has what is held, also of resources without a limit, and 0 for limits of which
    nothing is. It is None where project or region is ``*``: each counts by itself.
    """

    project: str
    region: str
    limits: Mapping[str, LimitInForce]
    used: Mapping[str, int] | None


class EffectiveQuotas:
    """The quotas of the settings, overridden by those of the store.

    Reads the store anew each time, so that what another server has set counts here as well.
    A stored limit beats one of the settings for the same project, region and resource.
    """

    def __init__(
        self, store: QuotaStore, configured: Iterable[Quota], catalogue: Catalogue
    ) -> None:
        """Raises InvalidArgument for all that is wrong with the configured quotas, at once."""
        self.store = store
        self.rules = QuotaRules.of(catalogue)
        self._configured = _checked(tuple(configured), self.rules)

    def quotas(self) -> Quotas:
        """Returns all quotas that are in force."""
        return self.overlay(self.store.list())

    def overlay(self, stored: tuple[Quota, ...]) -> Quotas:
        """Returns all quotas that are in force with these in the store."""
        return Quotas((*self._configured, *stored))


class QuotaBook:
    """Shows and changes quotas.

    ``usage`` says what the jobs of a project in a region count of its quota now; ``changed`` is
    called after each change, and may wake whoever admits jobs; also after one that failed: it may
    have happened nevertheless.
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
        """Returns what is in force for each project and region that a quota names, in order."""
        stored = self._store.list()
        quotas = self._overlay(stored)
        return tuple(self._in_force(q.project, q.region, quotas, stored) for q in quotas)

    def get(self, project: str, region: str) -> QuotaInForce:
        """Returns what is in force for a project in a region; ``*``: for those that no quota names.

        Raises:
            InvalidArgument: they can't be a project and a region.
        """
        return self._now(*self._scope(project, region))

    def change(self, project: str, region: str, limits: Mapping[str, object]) -> QuotaInForce:
        """Sets limits by resource, and leaves all others; None sets none here, so that the next
        less specific one counts again.

        Raises:
            InvalidArgument: all that is wrong, at once; nothing was changed.
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
        """Forgets what was set for exactly this project and region; settings count again.

        Raises:
            InvalidArgument: they can't be a project and a region.
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
            text = f"project {scope[0]} in region {scope[1]} has another table; allowed: one"
            violations.append(Violation(f"quotas[{index}]", text))
        checked[scope] = Quota(*scope, limits)
    _raise_any(violations)
    return tuple(checked.values())


def _raise_any(violations: list[Violation]) -> None:
    if violations:
        raise InvalidArgument.of(tuple(violations))
