"""Where there are models, over HTTP."""

from __future__ import annotations

from dataclasses import replace

import httpx

from footplate.api.app import create_app
from footplate.api.footplate_v1.places import place_routes
from footplate.api.security import Access
from footplate.domain.names import ModelName
from tests.support.http_server import serve
from tests.support.models import MemoryModels, make_model


def test_each_place_is_named_once() -> None:
    first, second = MemoryModels(), MemoryModels()
    for store, project, number in ((first, "b", "1"), (first, "b", "2"), (second, "a", "1")):
        store.create(replace(make_model(), name=ModelName(project, "us-central1", number)))
    second.create(replace(make_model(), name=ModelName("b", "europe-west4", "1")))
    with serve(create_app(place_routes(first.collections, second.collections), Access())) as url:
        found = httpx.get(f"{url}/footplate/v1/places").raise_for_status().json()
    assert [(each["project"], each["region"]) for each in found["places"]] == [
        ("a", "us-central1"),
        ("b", "europe-west4"),
        ("b", "us-central1"),
    ]
