"""Rules for quotas and their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import nearest, quoted
from footplate.domain.names import check_project
from footplate.domain.quotas import ANY
from footplate.domain.resources import JOBS, VCPUS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.quotas import Quota

MAX_LIMIT = 10**9
LIMIT_RULE = f"a whole number from 0 to {MAX_LIMIT}"
_SHOWN = 100
"""Characters of a wrong name or value that an error repeats."""


def is_limit(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_LIMIT


def fold(resource: str) -> str:
    """What all spellings of a resource share: ``nvidia-tesla-t4`` is ``NVIDIA_TESLA_T4``."""
    return resource.upper().replace("-", "_")


@dataclass(frozen=True)
class QuotaRules:
    """The resources and regions that quotas may name.

    The methods give back names in their own spelling, and add what is wrong to ``violations``,
    with paths that begin with ``prefix``.
    """

    accelerators: frozenset[str]
    regions: frozenset[str]

    @classmethod
    def of(cls, catalogue: Catalogue) -> QuotaRules:
        return cls(frozenset(catalogue.accelerators), frozenset(catalogue.regions))

    def knowing(self, stored: Iterable[Quota]) -> QuotaRules:
        """With the names that are stored: they can be unset after the catalogue has lost them."""
        quotas = tuple(stored)
        resources = {resource for quota in quotas for resource in quota.limits}
        regions = {quota.region for quota in quotas}
        return QuotaRules(
            self.accelerators | resources - {VCPUS, JOBS}, self.regions | regions - {ANY}
        )

    def scope(
        self, project: str, region: str, violations: list[Violation], prefix: str = ""
    ) -> tuple[str, str]:
        """Whom and where it is for; ``-`` means ``*``, as in Google's own paths."""
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
        """Limits of resources; each is a number, and each resource is there once."""
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
        """As ``limits``; None, for no limit, is allowed as well."""
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
        return f"no such resource; allowed: {VCPUS}, {JOBS} or an accelerator: {near}"


def _bad_project(project: str, prefix: str) -> Iterable[Violation]:
    try:
        check_project(project)
    except InvalidArgument as error:
        for violation in error.violations:
            yield Violation(f"{prefix}{violation.field}", f"{violation.description}; or *")
