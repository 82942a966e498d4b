"""Quotas: how much the jobs of a project may hold at once in a region, and their rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import nearest, quoted
from footplate.domain.names import check_project
from footplate.domain.resources import JOBS, VCPUS, say_amount

MAX_LIMIT = 10**9
LIMIT_RULE = f"a whole number from 0 to {MAX_LIMIT}"
_SHOWN = 100
"""Characters of a wrong name or value that an error repeats."""


def is_limit(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_LIMIT


def fold(resource: str) -> str:
    """Converts all spellings of a resource, such as ``nvidia-tesla-t4``, to the same text."""
    return resource.upper().replace("-", "_")


@dataclass(frozen=True)
class QuotaRules:
    """The resources and regions that quotas may name.

    The methods return names in their standard spelling, and add faults to ``violations``, with
    paths that begin with ``prefix``.
    """

    accelerators: frozenset[str]
    regions: frozenset[str]

    @classmethod
    def of(cls, catalogue: Catalogue) -> QuotaRules:
        return cls(frozenset(catalogue.accelerators), frozenset(catalogue.regions))

    def knowing(self, stored: Iterable[Quota]) -> QuotaRules:
        """Returns the rules with the names in stored quotas added.

        So a user can unset names that the catalogue no longer has.
        """
        quotas = tuple(stored)
        resources = {resource for quota in quotas for resource in quota.limits}
        regions = {quota.region for quota in quotas}
        return QuotaRules(
            self.accelerators | resources - {VCPUS, JOBS}, self.regions | regions - {ANY}
        )

    def scope(
        self, project: str, region: str, violations: list[Violation], prefix: str = ""
    ) -> tuple[str, str]:
        """Returns the project and region of a quota; ``-`` means ``*``, as in Google's paths."""
        project, region = (ANY if name == "-" else name for name in (project, region))
        if project != ANY:
            violations.extend(_bad_project(project, prefix))
        if region != ANY and region not in self.regions:
            near = nearest(region, self.regions, "regions")
            text = f"{quoted(region)} given; allowed: * or a region of the catalogue: {near}"
            violations.append(Violation(f"{prefix}region", text))
        return project, region

    def limits(
        self, given: Mapping[str, object], violations: list[Violation], prefix: str
    ) -> dict[str, int]:
        """Reads limits of resources; each must be a number, and each resource may occur once."""
        found: dict[str, int] = {}
        for resource, value in self._named(given, violations, prefix).items():
            if is_limit(value):
                found[resource] = value
            else:
                text = f"{repr(value)[:_SHOWN]} given; allowed: {LIMIT_RULE}"
                violations.append(Violation(f"{prefix}{resource}", text))
        return found

    def changes(
        self, given: Mapping[str, object], violations: list[Violation], prefix: str
    ) -> dict[str, int | None]:
        """Reads changes as ``limits`` reads limits, but also allows None, which removes a limit."""
        named = self._named(given, violations, prefix)
        unset = {resource: value for resource, value in named.items() if value is None}
        numbers = {resource: value for resource, value in named.items() if value is not None}
        return {**dict.fromkeys(unset), **self.limits(numbers, violations, prefix)}

    def _named(
        self, given: Mapping[str, object], violations: list[Violation], prefix: str
    ) -> dict[str, object]:
        known = {fold(resource): resource for resource in (VCPUS, JOBS, *self.accelerators)}
        named: dict[str, object] = {}
        for name, value in given.items():
            field, resource = f"{prefix}{name[:_SHOWN]}", known.get(fold(name))
            if resource is None:
                violations.append(Violation(field, self._unknown(fold(name))))
            elif resource in named:
                violations.append(Violation(field, f"{resource} is given twice"))
            else:
                named[resource] = value
        return named

    def _unknown(self, name: str) -> str:
        short = sorted(one for one in self.accelerators if fold(one).endswith(f"_{name}"))
        near = nearest(short[0] if short else name, self.accelerators, "accelerators")
        return f"quotas have no such resource; allowed: {VCPUS}, {JOBS} or an accelerator: {near}"


def _bad_project(project: str, prefix: str) -> Iterable[Violation]:
    try:
        check_project(project)
    except InvalidArgument as error:
        for violation in error.violations:
            yield Violation(f"{prefix}{violation.field}", f"{violation.description}; or *")


ANY = "*"


@dataclass(frozen=True)
class Quota:
    """Limits by resource: ``vcpus``, ``jobs``, and accelerators by their API names.

    If ``project`` or ``region`` is ``*``, the limits apply to each project or region separately.
    """

    project: str
    region: str
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit:
    """A limit, with the project and region of the quota that sets it."""

    amount: int
    project: str
    region: str


class Quotas:
    """All quotas; for each resource the most specific quota applies.

    The order, for each resource separately: the project's quota in the region, the project's in
    ``*``, that of ``*`` in the region, that of ``*`` in ``*``. A resource that none of them names
    has no limit. Of two quotas for the same project and region the later one applies, again for
    each resource separately.

    With ``*`` as project or region, all methods answer for a project, or a region, that no quota
    names.
    """

    def __init__(self, quotas: Iterable[Quota] = ()) -> None:
        self._limits: dict[tuple[str, str], dict[str, int]] = {}
        for quota in quotas:
            self._limits.setdefault((quota.project, quota.region), {}).update(quota.limits)

    def __iter__(self) -> Iterator[Quota]:
        """Yields a quota for each project and region that has any, in order; ``*`` comes first."""
        for project, region in sorted(self._limits):
            yield Quota(project, region, dict(self._limits[project, region]))

    def limit(self, project: str, region: str, resource: str) -> int | None:
        for scope in _scopes(project, region):
            limit = self._limits.get(scope, {}).get(resource)
            if limit is not None:
                return limit
        return None

    def limits(self, project: str, region: str) -> dict[str, int]:
        """Returns every limit that applies to the project in the region."""
        found = self.in_force(project, region)
        return {resource: limit.amount for resource, limit in found.items()}

    def in_force(self, project: str, region: str) -> dict[str, Limit]:
        """Returns every limit that applies to the project in the region, and its quota."""
        found: dict[str, Limit] = {}
        for scope in reversed(_scopes(project, region)):
            for resource, amount in self._limits.get(scope, {}).items():
                found[resource] = Limit(amount, *scope)
        return found


def exceeded(
    counts: Mapping[str, int], project: str, region: str, quotas: Quotas
) -> tuple[str, ...]:
    """Returns why a job that counts these amounts can never start, a sentence for each resource."""
    limits = quotas.limits(project, region)
    over = (r for r in sorted(counts) if r in limits and counts[r] > limits[r])
    return tuple(_too_much(r, counts[r], limits[r], project, region) for r in over)


def _scopes(project: str, region: str) -> tuple[tuple[str, str], ...]:
    """Returns the scopes of limits for a project in a region, the most specific first."""
    return (project, region), (project, ANY), (ANY, region), (ANY, ANY)


def _too_much(resource: str, count: int, limit: int, project: str, region: str) -> str:
    # The project's own quota in the region beats all others, so raising that one always helps.
    command = f"footplate quotas set {resource}={count} --project={project} --region={region}"
    return (
        f"asks for {say_amount(resource, count)}, but project {project} may hold only "
        f"{say_amount(resource, limit)} in {region}; raise the quota with `{command}`"
    )
