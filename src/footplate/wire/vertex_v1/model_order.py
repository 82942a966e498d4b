"""``orderBy`` of lists of models and of their versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from footplate.domain.model_registry import Model, ModelVersion

Entry = tuple[Model, ModelVersion]

MODEL_ORDERS: Mapping[str, Callable[[Entry], Any]] = MappingProxyType(
    {
        "displayName": lambda entry: entry[1].display_name.casefold(),
        "createTime": lambda entry: (entry[0].create_time, entry[1].create_time),
        "updateTime": lambda entry: entry[1].update_time,
    }
)
"""The time of a model, and among its versions that of each."""
