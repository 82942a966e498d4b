"""``projects.locations.models`` of aiplatform v1."""

from __future__ import annotations

from functools import partial

from footplate.api.json_route import Call
from footplate.api.operations import deletion
from footplate.api.vertex_v1.model_operations import ModelOperationId, export_name
from footplate.api.vertex_v1.parents import location_of
from footplate.control.models import ModelRegistry
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.export_folders import export_folder
from footplate.domain.machines import unknown_region
from footplate.domain.names import ModelName
from footplate.ports.clock import Clock
from footplate.ports.pages import items_of
from footplate.wire.filters.jobs import parse_filter
from footplate.wire.json_text import JsonObject
from footplate.wire.list_order import in_order
from footplate.wire.paging import cut_page, list_json, parse_token
from footplate.wire.vertex_v1.model_order import MODEL_ORDERS
from footplate.wire.vertex_v1.model_requests import (
    read_alias_changes,
    read_export,
    read_patch,
    read_upload,
)
from footplate.wire.vertex_v1.model_responses import export_operation, model_json
from footplate.wire.vertex_v1.queries import MODEL_VOCABULARY, PAGES

_AT_ONCE = 1000


class ModelsApi:
    """The handlers of models, one for each API method; ``version`` is ``v1`` or ``v1beta1``."""

    def __init__(
        self, registry: ModelRegistry, clock: Clock, catalogue: Catalogue, version: str
    ) -> None:
        self._registry = registry
        self._clock = clock
        self._catalogue = catalogue
        self._version = version

    def upload(self, call: Call) -> JsonObject:
        where, now = location_of(call), self._clock.now()
        if where.location not in self._catalogue.regions:
            said = unknown_region(where.location, self._catalogue)
            raise InvalidArgument.of((Violation("parent", said),))
        model, version = self._registry.upload(where, read_upload(call.body(), now))
        operation = ModelOperationId("upload", self._version, version.number, now)
        return operation.answer(model.name)

    def get(self, call: Call) -> JsonObject:
        name, key = model_of(call)
        model, version = self._registry.get(name, key)
        return model_json(model, version, versioned=bool(key))

    def list(self, call: Call) -> JsonObject:
        """Returns a page of models, each with its default version."""
        here = location_of(call)
        collection = ModelName(here.project, here.location, "").collection
        text = call.parameter("filter") or ""
        size = PAGES.size(call.parameter("pageSize", "page_size"))
        where = parse_filter(text, MODEL_VOCABULARY)
        token = call.parameter("pageToken", "page_token")
        if order := call.parameter("orderBy", "order_by"):
            # Sorted out of all models: projects have few.
            asked = f"{collection}?{text}&{order}"
            read = partial(self._registry.list, collection, where=where, limit=_AT_ONCE)
            every = [(model, model.default) for model in items_of(read)]
            shown, more = cut_page(in_order(every, order, MODEL_ORDERS), size, token, asked)
            return list_json("models", [model_json(*entry) for entry in shown], more, asked)
        asked = f"{collection}?{text}"
        after = parse_token(token, asked)
        page = self._registry.list(collection, where=where, limit=size, after=after)
        found = [model_json(model, model.default) for model in page.items]
        return list_json("models", found, page.next_key, asked)

    def list_versions(self, call: Call) -> JsonObject:
        """Returns all versions of a model on one page, the oldest first without ``orderBy``."""
        model, _ = self._registry.get(model_of(call)[0])
        oldest = [(model, version) for version in model.versions]
        found = in_order(oldest, call.parameter("orderBy", "order_by") or "", MODEL_ORDERS)
        return {"models": [model_json(*entry, versioned=True) for entry in found]}

    def patch(self, call: Call) -> JsonObject:
        name, key = model_of(call)
        change = read_patch(call.body(), call.parameter("updateMask", "update_mask"))
        model, version = self._registry.patch(name, key, change)
        return model_json(model, version, versioned=bool(key))

    def merge_aliases(self, call: Call) -> JsonObject:
        name, key = model_of(call)
        model, version = self._registry.merge_aliases(name, key, read_alias_changes(call.body()))
        return model_json(model, version, versioned=bool(key))

    def delete(self, call: Call) -> JsonObject:
        name, key = model_of(call)
        if key:
            said = (
                f"version {key!r} given; allowed: the name of a model without a version. To "
                "delete a version, call models.deleteVersion"
            )
            raise InvalidArgument.of((Violation("name", said),))
        self._registry.delete(name)
        return deletion(name, self._clock.now(), self._version)

    def delete_version(self, call: Call) -> JsonObject:
        name, key = model_of(call)
        if not key:
            raise InvalidArgument.of(
                (Violation("name", ("required: the name of a version, models/ID@VERSION")),)
            )
        version = self._registry.delete_version(name, key)
        now = self._clock.now()
        return ModelOperationId("deleteVersion", self._version, version.number, now).answer(name)

    def export(self, call: Call) -> JsonObject:
        """Starts the export of a model's files, which are copied after the answer."""
        (name, key), prefix = model_of(call), read_export(call.body())
        model, version = self._registry.get(name, key)
        named = f"{model.default.display_name}-{version.number}"
        folder = export_folder(prefix, "model-export", named, self._clock.now())
        _, export = self._registry.export(name, str(version.number), folder, self._version)
        return export_operation(export_name(name, export), export)


def model_of(call: Call) -> tuple[ModelName, str]:
    """Returns the model's name, and the version's number or alias if the URL has one.

    Raises InvalidArgument if the project or region is impossible, and NotFound if there is no such
    model.
    """
    here = location_of(call)
    model_id, at, key = call.path["model"].partition("@")
    if not model_id or (at and not key):
        raise NotFound(f"there is no model {call.path['model'][:200]!r}")
    return ModelName(here.project, here.location, model_id), key
