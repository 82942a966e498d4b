"""Checks objects of Kubernetes against the fields that its versions publish.

``tools/make_kubernetes_schemas.py`` has extracted them from clients generated from the OpenAPI.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[1] / "unit" / "backends" / "kubernetes" / "schemas"
VERSIONS = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
_LIST, _DICT = re.compile(r"list\[(.+)\]"), re.compile(r"dict[(\[]str, (.+)[)\]]")
_SIMPLE = {"str": str, "datetime": str, "int": int, "bool": bool, "object": object}


def find_faults(version: str, body: dict[str, Any]) -> list[str]:
    """What this version of Kubernetes doesn't know of the object, or misses in it."""
    schema = json.loads((FOLDER / f"{version}.json").read_text())
    return list(_check(schema, body["kind"], f"V1{body['kind']}", body))


def _check(schema: dict[str, Any], place: str, kind: str, value: object) -> Iterator[str]:
    if kind in _SIMPLE:
        is_number = isinstance(value, bool) and kind == "int"
        if not isinstance(value, _SIMPLE[kind]) or is_number:
            yield f"{place}: {value!r} is no {kind}"
    elif found := _LIST.fullmatch(kind):
        if not isinstance(value, list):
            yield f"{place}: {value!r} is no list"
            return
        for number, each in enumerate(value):
            yield from _check(schema, f"{place}[{number}]", found[1], each)
    elif not isinstance(value, dict):
        yield f"{place}: {value!r} is no object"
    elif found := _DICT.fullmatch(kind):
        for name, each in value.items():
            yield from _check(schema, f"{place}.{name}", found[1], each)
    else:
        yield from _check_model(schema, place, kind, value)


def _check_model(
    schema: dict[str, Any], place: str, kind: str, value: dict[str, object]
) -> Iterator[str]:
    fields, required = schema[kind]["fields"], schema[kind]["required"]
    yield from (f"{place}.{name} is missing" for name in required if name not in value)
    for name, each in value.items():
        if name in fields:
            yield from _check(schema, f"{place}.{name}", fields[name], each)
        else:
            yield f"{place}.{name} is unknown"
