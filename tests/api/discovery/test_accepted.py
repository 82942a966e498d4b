"""Every query parameter of Google's documents: honoured, without effect, or refused by name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import googleapiclient.discovery_cache
import httpx
import pytest

from footplate.api.accepted_parameters import HONOURED, WITHOUT_EFFECT, Parameters, end_of
from footplate.api.storage_v1 import accepted_fields, accepted_parameters
from tests.api.discovery.test_documents import APIS, document, methods, requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.api.discovery.conftest import World

_GOOGLES = Path(googleapiclient.discovery_cache.__file__).parent / "documents"
_VALUES = {"boolean": "true", "integer": "1"}
_NAMES = {"b": "stage", "locations": "us-central1", "projects": "demo"}
"""What stands in a path behind these."""
_REFUSED = ("unknown name", "not supported")


def published(api: str, version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_GOOGLES / f"{api}.{version}.json").read_text())
    return found


def address(path: str) -> str:
    parts = path.split("/")
    for place, part in enumerate(parts):
        name = _NAMES.get(parts[place - 1], "x")
        parts[place] = re.sub(r"\{[^{}]*\}", name, part)
    return "/".join(parts)


def shape(path: str) -> str:
    return re.sub(r"\{[^{}]*\}", "*", path)


def served(world: World, api: str, version: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Google's methods that are served, with their verbs and paths."""
    googles = published(api, version)
    there = {
        (verb, shape(path)): method
        for method in methods(googles)
        for verb, path in requests(googles, method)
    }
    ours = document(world, api, version)
    for method in methods(ours):
        for verb, path in requests(ours, method):
            if found := there.get((verb, shape(path))):
                yield found, verb, path


def accepted(api: str, method: dict[str, Any], verb: str, path: str) -> set[str]:
    if api == "storage":
        name = method["id"].removeprefix("storage.")
        return {
            "fields",
            *accepted_parameters.HONOURED[name],
            *accepted_parameters.without_effect(name),
        }
    parameters = Parameters(verb, path)
    return {*parameters.honoured, *parameters.without_effect}


@pytest.mark.parametrize(("api", "version"), APIS)
def test_every_parameter_is_honoured_without_effect_or_refused(
    world: World, api: str, version: str
) -> None:
    everywhere = published(api, version)["parameters"]
    checked = 0
    with httpx.Client(base_url=world.url, timeout=60) as http:
        for method, verb, path in served(world, api, version):
            known = accepted(api, method, verb, path)
            of_query = {
                name: described
                for name, described in {**everywhere, **method.get("parameters", {})}.items()
                if described["location"] == "query"
            }
            wrong = {
                name: described.get("enum", [_VALUES.get(described["type"], "x")])[0]
                for name, described in of_query.items()
                if name not in known
            }
            answer = http.request(verb, address(path), params={**wrong, "colour": "red"})
            assert answer.status_code == 400, (method["id"], answer.text)
            message = answer.json()["error"]["message"]
            for name in (*wrong, "colour"):
                said = re.search(rf"(?<![\w.]){re.escape(name)}: ([\w ]+)", message)
                assert said, (method["id"], name, message)
                assert said[1] in _REFUSED, (method["id"], name, message)
            checked += len(of_query)
    assert checked > 10


@pytest.mark.parametrize(("api", "version"), APIS)
def test_documents_have_what_is_accepted_alone(world: World, api: str, version: str) -> None:
    """A client that is made of one can't ask for what would be refused."""
    ours = document(world, api, version)
    for method in methods(ours):
        for verb, path in requests(ours, method):
            known = accepted(api, method, verb, path)
            query = {
                name
                for name, described in method["parameters"].items()
                if described["location"] == "query"
            }
            assert query <= known, method["id"]


def test_the_tables_are_of_methods_that_are_served(world: World) -> None:
    ends = {
        (verb, end_of(route.path))
        for routes in (
            world.described.training,
            world.described.vertex,
            world.described.logging,
        )
        for route in routes
        for verb in route.methods or ()
    }
    assert {*HONOURED, *WITHOUT_EFFECT} - ends == {("GET", "services")}
    names = {method["id"] for method in methods(document(world, "storage", "v1"))}
    assert {f"storage.{name}" for name in accepted_parameters.HONOURED} == names
    assert accepted_parameters.WITHOUT_EFFECT.keys() <= accepted_parameters.HONOURED.keys()


@pytest.mark.parametrize(("kind", "schema"), [("BUCKET", "Bucket"), ("OBJECT", "Object")])
def test_every_field_of_storage_is_in_one_table(world: World, kind: str, schema: str) -> None:
    """And a request with a refused one, or with none of Google's, is refused by its name."""
    fields = published("storage", "v1")["schemas"][schema]["properties"]
    honoured, refused = accepted_fields.HONOURED[kind], accepted_fields.REFUSED[kind].keys()
    harmless = accepted_fields.WITHOUT_EFFECT[kind].keys()
    assert not fields.keys() - honoured - harmless - refused
    assert not honoured & (harmless | refused)
    assert not harmless & refused
    for name in (*refused, "colour"):
        value: Any = {"of": "x"} if fields.get(name, {}).get("type") == "object" else "x"
        if kind == "BUCKET":
            answer = httpx.post(f"{world.url}/storage/v1/b", json={"name": "made", name: value})
        else:
            query = {"uploadType": "resumable", "name": "made"}
            url = f"{world.url}/upload/storage/v1/b/stage/o"
            answer = httpx.post(url, params=query, json={name: value})
        assert answer.status_code == 400, name
        assert re.search(rf"\b{name}[\w.]*: (not supported|unknown name)", answer.text), name
