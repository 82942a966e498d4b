"""What a quota may say, and how its names may be spelled."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.amounts import JOBS, VCPUS
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import check_project
from footplate.domain.quotas import ANY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.quotas import Quota

MAX_LIMIT = 10**9
LIMIT_RULE = f"a whole number from 0 to {MAX_LIMIT}"
_SHOWN = 100
"""Characters of a wrong name that an error repeats."""


def is_limit(value: object) -> bool:
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

    resources: tuple[str, ...]
    regions: frozenset[str]

    @classmethod
    def of(cls, catalogue: Catalogue) -> QuotaRules:
        return cls((VCPUS, JOBS, *sorted(catalogue.accelerators)), frozenset(catalogue.regions))

    def knowing(self, stored: Iterable[Quota]) -> QuotaRules:
        """With the names that are stored: they can be unset after the catalogue has lost them."""
        quotas = tuple(stored)
        lost = {r for quota in quotas for r in quota.limits} - set(self.resources)
        regions = self.regions | {quota.region for quota in quotas} - {ANY}
        return QuotaRules((*self.resources, *sorted(lost)), regions)

    def scope(
        self, project: str, region: str, violations: list[Violation], prefix: str = ""
    ) -> tuple[str, str]:
        """Whom and where it is for; ``-`` means ``*``, as in Google's own paths."""
        project, region = (ANY if name == "-" else name for name in (project, region))
        if project != ANY:
            violations.extend(_bad_project(project, prefix))
        if region != ANY and region not in self.regions:
            text = f"{region[:_SHOWN]!r} given; allowed: * or a region of the catalogue"
            near = _nearest(region, self.regions)
            violations.append(Violation(f"{prefix}region", text + near))
        return project, region

    def limits(
        self, given: Mapping[str, object], violations: list[Violation], prefix: str
    ) -> dict[str, int]:
        """Limits of resources; each is a number, and each resource is there once."""
        found: dict[str, int] = {}
        for resource, value in self._named(given, violations, prefix).items():
            if isinstance(value, int) and is_limit(value):
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
        known = {fold(resource): resource for resource in self.resources}
        named: dict[str, object] = {}
        for name, value in given.items():
            field, resource = f"{prefix}{name[:_SHOWN]}", known.get(fold(name))
            if resource is None:
                text = f"no such resource; allowed: {', '.join(self.resources)}"
                near = _nearest(fold(name), known)
                violations.append(Violation(field, text + near))
            elif resource in named:
                violations.append(Violation(field, f"{resource} is given twice"))
            else:
                named[resource] = value
        return named


def _bad_project(project: str, prefix: str) -> Iterable[Violation]:
    try:
        check_project(project)
    except InvalidArgument as error:
        for violation in error.violations:
            yield Violation(f"{prefix}{violation.field}", f"{violation.description}; or *")


def _nearest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name[:_SHOWN], sorted(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""
