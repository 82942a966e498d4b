"""Managed datasets as clients and training pipelines use them."""

from __future__ import annotations

from footplate.domain.datasets import Dataset
from footplate.domain.errors import NotFound
from footplate.domain.names import DatasetName
from footplate.domain.tracking.names import DATASETS, TrackingName
from footplate.ports.tracking import TrackingStore
from footplate.wire.vertex_v1.dataset_fields import dataset_of


class Datasets:
    """Finds datasets. They are records of the same kind as TensorBoards."""

    def __init__(self, store: TrackingStore) -> None:
        self._store = store

    def get(self, name: DatasetName) -> Dataset:
        """Returns the dataset of this name. Raises NotFound."""
        return dataset_of(self._store.get(tracking_name(name)))

    def exists(self, name: DatasetName) -> bool:
        try:
            self.get(name)
        except NotFound:
            return False
        return True


def tracking_name(name: DatasetName) -> TrackingName:
    return TrackingName(name.project, name.location, (DATASETS, name.dataset_id))
