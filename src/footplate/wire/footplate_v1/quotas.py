"""Answers about quotas."""

from dataclasses import dataclass

from pydantic import Field, StrictInt

from footplate.wire.footplate_v1.answer import Answer


class Origin(Answer):
    """The quota that sets a limit.

    ``source``: it is of the settings (SETTINGS) or was set since (STORED).
    """

    source: str = ""
    project: str = ""
    region: str = ""


@dataclass(frozen=True)
class ResourceQuota:
    """The quota of one resource.

    ``limit`` None: there is none. ``used`` None: each project, or region, counts by itself.
    """

    name: str
    limit: int | None
    used: int | None
    origin: Origin


class Quota(Answer):
    """The limits in force for a project in a region, by resource."""

    name: str = ""
    project: str = ""
    region: str = ""
    limits: dict[str, StrictInt] = Field(default_factory=dict)
    origins: dict[str, Origin] = Field(default_factory=dict)
    used: dict[str, StrictInt] | None = None

    def resources(self) -> tuple[ResourceQuota, ...]:
        """Returns those that have a limit or are in use, by name."""
        used = self.used or {}
        return tuple(
            ResourceQuota(
                name, self.limits.get(name), used.get(name), self.origins.get(name, Origin())
            )
            for name in sorted(self.limits.keys() | used.keys())
        )


class Quotas(Answer):
    """Those of each project and region that a quota names; ``*`` comes first."""

    quotas: tuple[Quota, ...] = ()
