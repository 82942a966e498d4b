"""What every store of models does: subclass this and give it the fixture ``models``, empty."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Aborted, AlreadyExists, InvalidArgument, NotFound
from footplate.domain.filters import Comparator, Comparison, Field
from footplate.domain.model_registry import (
    Export,
    add_version,
    begin_export,
    end_export,
)
from footplate.domain.names import ModelName
from tests.support.jobs import CREATED
from tests.support.models import make_model

if TYPE_CHECKING:
    from footplate.ports.models import ModelStore

MODELS = "projects/demo/locations/us-central1/models"


class ModelContract:
    """One transaction each, guarded by versions."""

    def test_a_model_comes_back_as_it_was(self, models: ModelStore) -> None:
        model = make_model(labels=(("team", "ä"),), artifact_uri="gs://b/m/", pipeline="p")
        models.create(model)
        assert models.get(model.name) == model
        more = add_version(model, replace(model.versions[0], aliases=("default", "new")))
        more = begin_export(more, Export(0, "v1", "gs://b/m/", "gs://b/x/", CREATED))
        models.write(replace(more, version=2))
        assert models.get(model.name) == replace(more, version=2)

    def test_a_name_is_used_once(self, models: ModelStore) -> None:
        models.create(make_model())
        with pytest.raises(AlreadyExists):
            models.create(make_model(display_name="another"))
        assert models.get(make_model().name).default.display_name == "a model"

    def test_a_write_is_guarded(self, models: ModelStore) -> None:
        model = make_model()
        models.create(model)
        models.write(replace(model, version=2))
        with pytest.raises(Aborted):
            models.write(replace(model, version=2))
        with pytest.raises(NotFound):
            models.write(replace(make_model("2"), version=2))

    def test_what_is_deleted_is_not_found(self, models: ModelStore) -> None:
        name = make_model().name
        models.create(make_model())
        models.delete(name)
        with pytest.raises(NotFound):
            models.get(name)
        with pytest.raises(NotFound):
            models.delete(name)
        with pytest.raises(NotFound):
            models.get(ModelName("demo", "us-central1", "\0"))

    def test_lists_are_newest_first_in_pages(self, models: ModelStore) -> None:
        for number in range(5):
            at = CREATED + timedelta(seconds=number // 2)
            models.create(make_model(f"m{number}", f"model {number % 2}", at))
        assert models.collections() == (MODELS,)
        models.create(replace(make_model(), name=ModelName("demo", "europe-west4", "1")))
        assert models.collections() == ("projects/demo/locations/europe-west4/models", MODELS)
        first = models.list(MODELS, where=None, limit=3, after=None)
        rest = models.list(MODELS, where=None, limit=3, after=first.next_key)
        found = [model.name.model_id for model in (*first.items, *rest.items)]
        assert (found, rest.next_key) == (["m4", "m3", "m2", "m1", "m0"], None)
        where = Comparison(Field.DISPLAY_NAME, Comparator.EQUAL, "model 1")
        chosen = models.list(MODELS, where=where, limit=9, after=None).items
        assert [model.name.model_id for model in chosen] == ["m3", "m1"]
        with pytest.raises(InvalidArgument):
            models.list(MODELS, where=None, limit=3, after="nonsense")

    def test_open_exports_are_found(self, models: ModelStore) -> None:
        model = make_model()
        models.create(model)
        assert models.exporting() == ()
        export = Export(0, "v1", "gs://b/m/", "gs://b/x/", CREATED)
        model = begin_export(model, export)
        models.write(model)
        assert models.exporting() == (model,)
        models.write(end_export(model, replace(model.exports[0], end_time=CREATED)))
        assert models.exporting() == ()
