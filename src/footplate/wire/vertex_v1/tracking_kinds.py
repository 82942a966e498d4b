"""The kinds of resources of MetadataService and TensorboardService, in one table, and datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from footplate.domain.tracking import names
from footplate.wire.vertex_v1 import tracking_models as models
from footplate.wire.vertex_v1.dataset_fields import INTERNAL
from footplate.wire.vertex_v1.dataset_models import Dataset

_NODE = ("displayName", "description", "labels", "metadata", "schemaVersion")
_PLAIN = ("displayName", "description", "labels")
MAX_NAME = 128
MAX_LONG_NAME = 1024
"""Of what is called by a tag or a folder of logs."""


@dataclass(frozen=True)
class Kind:
    """A kind of resource.

    ``collection`` is its collection in names; ``listed`` is the field of a list's answer with the
    resources. ``patched`` are the fields that a patch may set. ``operations`` are those of create,
    update and delete that have operations with a metadata type of their own. ``internal`` are
    stored fields that no answer has.
    """

    collection: str
    message: str
    model: type[models.Tracked]
    listed: str
    patched: tuple[str, ...]
    required: tuple[str, ...] = ()
    client_id: bool = True
    operations: frozenset[str] = frozenset()
    internal: frozenset[str] = frozenset()
    longest_name: int = MAX_NAME

    @property
    def is_node(self) -> bool:
        """Returns whether resources of this kind have a schema and metadata."""
        return self.collection in {names.CONTEXTS, names.ARTIFACTS, names.EXECUTIONS}

    @property
    def field(self) -> str:
        """Returns the field of a create request that holds the resource."""
        return self.message[0].lower() + self.message[1:]

    @property
    def id_field(self) -> str:
        return f"{self.field}Id"

    @property
    def id_field_snake(self) -> str:
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in self.id_field)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.collection: kind
        for kind in (
            Kind(
                names.STORES,
                "MetadataStore",
                models.MetadataStore,
                "metadataStores",
                (),
                operations=frozenset({"create", "delete"}),
            ),
            Kind(names.CONTEXTS, "Context", models.Context, "contexts", _NODE),
            Kind(
                names.ARTIFACTS, "Artifact", models.Artifact, "artifacts", (*_NODE, "state", "uri")
            ),
            Kind(names.EXECUTIONS, "Execution", models.Execution, "executions", (*_NODE, "state")),
            Kind(
                names.TENSORBOARDS,
                "Tensorboard",
                models.Tensorboard,
                "tensorboards",
                (*_PLAIN, "isDefault"),
                ("displayName",),
                client_id=False,
                operations=frozenset({"create", "update"}),
            ),
            Kind(
                names.EXPERIMENTS,
                "TensorboardExperiment",
                models.TensorboardExperiment,
                "tensorboardExperiments",
                (*_PLAIN, "source"),
                longest_name=MAX_LONG_NAME,
            ),
            Kind(
                names.RUNS,
                "TensorboardRun",
                models.TensorboardRun,
                "tensorboardRuns",
                _PLAIN,
                ("displayName",),
                longest_name=MAX_LONG_NAME,
            ),
            Kind(
                names.TIME_SERIES,
                "TensorboardTimeSeries",
                models.TensorboardTimeSeries,
                "tensorboardTimeSeries",
                ("displayName", "description", "pluginName", "pluginData"),
                ("displayName", "valueType"),
                longest_name=MAX_LONG_NAME,
            ),
        )
    }
)

DATASET = Kind(
    names.DATASETS,
    "Dataset",
    Dataset,
    "datasets",
    _PLAIN,
    ("displayName", "metadataSchemaUri"),
    client_id=False,
    operations=frozenset({"create"}),
    internal=INTERNAL,
)
"""Apart from ``KINDS``, as datasets have handlers of their own."""
