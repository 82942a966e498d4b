"""The columns of the locations table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource

COLUMNS = {
    "NAME": "locationId",
    "TYPE": "type",
    "AVAILABLE_ACCELERATORS": "availableAccelerators",
}


def row(location: Resource) -> Resource:
    """A location with what it can do in columns of its own."""
    found = location.get("capabilities")
    capabilities = [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []
    accelerators = [c.get("availableAccelerators") for c in capabilities]
    return {
        **location,
        "type": ",".join(str(capability.get("type", "")) for capability in capabilities),
        "availableAccelerators": ",".join(
            str(name) for names in accelerators if isinstance(names, list) for name in names
        ),
    }
