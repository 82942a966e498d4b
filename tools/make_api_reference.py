"""Writes what is made from the routes: the reference of Footplate's own API, as an OpenAPI document
and as a page, and the list of Google's methods that are served.

Types come from the models (``tools/own_api.py``), Google's methods from the discovery documents.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
import tempfile
from collections import defaultdict
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel
from starlette.routing import Route

from footplate.domain import stacks
from footplate.server.data_dir import DataDir
from footplate.server.service import Service
from footplate.settings import Settings
from footplate.wire.asgi_call import call_asgi
from footplate.wire.footplate_v1 import package_checks, quotas, trials, usage, verdicts
from footplate.wire.json_text import JsonObject
from tools import own_api_answers
from tools.own_api import OPERATIONS, PARAMETERS, SECTIONS, V1, Operation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
URL = "http://127.0.0.1:8470"
APIS = (
    ("ml", "v1"),
    ("aiplatform", "v1"),
    ("aiplatform", "v1beta1"),
    ("storage", "v1"),
    ("logging", "v2"),
)
_MODULES = (own_api_answers, package_checks, quotas, stacks, trials, usage, verdicts)
Mode = Literal["serialization", "validation"]
SCHEMAS = "#/components/schemas/"
_ERROR: JsonObject = {
    "type": "object",
    "description": "An error in Google's form.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "integer", "description": "The HTTP status."},
                "message": {"type": "string"},
                "status": {"type": "string", "description": "Such as `INVALID_ARGUMENT`."},
                "details": {"type": "array", "items": {"type": "object"}},
            },
        }
    },
}
API_HEAD = """\
# API reference

Footplate's own API: what Google's APIs have no method for. Made from its routes and models
(`make reference`); [openapi.json](openapi.json) is the same as an OpenAPI 3.1 document. Google's
methods have [a page of their own](google-methods.md).

Paths begin with `/footplate/v1`. `{name}` is a job's full name, whose slashes are not escaped:
`projects/P/jobs/ID`, or `projects/P/locations/R/customJobs/ID`. If the service has a token,
requests need `Authorization: Bearer TOKEN`. Errors have Google's form:
`{"error": {"code", "message", "status"}}`. Answers may have more fields: later versions add some.

```console
$ curl -s http://127.0.0.1:8470/footplate/v1/status
```
"""
METHODS_HEAD = """\
# Google's methods

Each method of Google's APIs that is served. `make reference` makes this page of the service's
discovery documents, which describe
[its routes](../decisions/0073-discovery-documents-describe-the-routes.md).
Vertex AI's and Cloud Logging's are served over gRPC, too. What they do otherwise than Google's:
[coverage](coverage.md); who has called them: [methods and clients](clients.md).
"""


class Served(NamedTuple):
    """What a service serves: the verb and path of each own route, and discovery documents."""

    own: frozenset[tuple[str, str]]
    documents: Mapping[tuple[str, str], Mapping[str, Any]]


def read_service(folder: Path) -> Served:
    """Composes a service in a folder, without starting it, and reads what it serves."""
    data_dir = DataDir(folder / "data")
    data_dir.make()
    with closing(Service(Settings(data_dir.root), data_dir, URL, lambda: None)) as service:
        app: Any = service.app
        documents = {
            api: asyncio.run(_get(app, f"/discovery/v1/apis/{api[0]}/{api[1]}/rest"))
            for api in APIS
        }
        while not hasattr(app, "routes"):
            app = app._app
        routes = [route for route in app.routes if isinstance(route, Route)]
        own = {
            (verb, route.path)
            for route in routes
            for verb in (route.methods or set()) - {"HEAD"}
            if route.path.startswith(f"{V1}/")
        }
    return Served(frozenset(own), documents)


async def _get(app: Any, path: str) -> Mapping[str, Any]:
    host = URL.rpartition("/")[2].encode()
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", host)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8470),
        "scheme": "http",
    }
    answer = await call_asgi(app, scope)
    if answer.status != HTTPStatus.OK:
        raise RuntimeError(f"{path}: {answer.status} {answer.body.decode()}")
    document: Mapping[str, Any] = json.loads(answer.body)
    return document


def make_openapi() -> dict[str, Any]:
    """Returns the OpenAPI document."""
    schemas, types = _make_schemas()
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for (verb, route), operation in OPERATIONS.items():
        paths[_path(route)][verb.lower()] = _describe(verb, route, operation, types)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Footplate",
            "version": "v1",
            "description": "Footplate's own API, beside those of Google's that it serves.",
        },
        "servers": [{"url": URL}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": {**schemas, "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _make_schemas() -> tuple[dict[str, Any], dict[tuple[Mode, Any], Any]]:
    """Returns all schemas by name, and those of requests and answers by mode and type."""
    wanted: list[tuple[Mode, Any]] = []
    for operation in OPERATIONS.values():
        wanted.append(("serialization", operation.answer))
        if operation.request is not None:
            wanted.append(("validation", operation.request))
    inputs = {str(at): each for at, each in enumerate(dict.fromkeys(map(_hashable, wanted)))}
    made, whole = TypeAdapter.json_schemas(
        [(key, mode, TypeAdapter(kind)) for key, (mode, kind) in inputs.items()],
        ref_template=f"{SCHEMAS}{{model}}",
    )
    schemas: dict[str, Any] = dict(sorted(whole["$defs"].items()))
    docs = _field_docs()
    for name, schema in schemas.items():
        _add_docs(schema, docs.get(name, {}))
    return schemas, {inputs[key]: schema for (key, _), schema in made.items()}


def _hashable(wanted: tuple[Mode, Any]) -> tuple[Mode, Any]:
    mode, kind = wanted
    return (mode, dict[str, Any]) if kind == JsonObject else (mode, kind)


def _add_docs(schema: dict[str, Any], docs: Mapping[str, str]) -> None:
    """Adds what stands below a field in its class; leaves out what says nothing."""
    schema.pop("title", None)
    schema.pop("additionalProperties", None)
    if "description" in schema:
        schema["description"] = _prose(schema["description"])
    for name, field in schema.get("properties", {}).items():
        field.pop("title", None)
        if field.get("default", 0) is None:
            del field["default"]
        if name in docs:
            field["description"] = docs[name]


def _prose(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def _field_docs() -> dict[str, dict[str, str]]:
    """Returns what stands below the fields of the models, by class and name on the wire."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for module in _MODULES:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef):
                for field, said in zip(node.body, node.body[1:], strict=False):
                    if isinstance(field, ast.AnnAssign) and isinstance(said, ast.Expr):
                        name = to_camel(ast.unparse(field.target))
                        found[node.name][name] = _prose(ast.literal_eval(said.value))
    return found


def _path(route: str) -> str:
    return route.replace(":path}", "}")


def _describe(
    verb: str, route: str, operation: Operation, types: Mapping[tuple[Mode, Any], Any]
) -> dict[str, Any]:
    answer = types[_hashable(("serialization", operation.answer))]
    kind = "application/x-ndjson" if operation.lines else "application/json"
    described: dict[str, Any] = {
        "operationId": _operation_id(verb, route),
        "summary": operation.says.partition(". ")[0].rstrip(".") + ".",
        "description": operation.says,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in re.findall(r"\{(\w+)", route)
            ),
            *map(_parameter, operation.query),
        ],
        "responses": {
            "200": {"description": "OK", "content": {kind: {"schema": answer}}},
            "default": {
                "description": "Error",
                "content": {"application/json": {"schema": {"$ref": f"{SCHEMAS}Error"}}},
            },
        },
    }
    if operation.request is not None:
        schema = types[_hashable(("validation", operation.request))]
        described["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return described


def _operation_id(verb: str, route: str) -> str:
    words = re.findall(r"\w+", re.sub(r"\{(\w+)(:path)?\}", r"\1", route.removeprefix(V1)))
    return to_camel("_".join([verb.lower(), *words]))


def _parameter(name: str) -> dict[str, Any]:
    kind, says = PARAMETERS[name]
    schema: dict[str, Any] = {"type": kind}
    if kind == "array":
        schema["items"] = {"type": "string"}
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", says)
    return {"name": name, "in": "query", "description": text, "schema": schema}


def write_page(document: Mapping[str, Any]) -> str:
    """Returns the page of Footplate's own API; operations that differ only in paths are one."""
    parts = [API_HEAD]
    for title, operations in SECTIONS.items():
        parts.append(f"## {title}\n")
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for (verb, route), operation in operations.items():
            groups[verb, operation.says].append(route)
        parts += [
            _section(verb, routes, document, operations[verb, routes[0]])
            for (verb, _), routes in groups.items()
        ]
    parts.append("## Types\n\nFields with a `?` may be missing.\n")
    schemas = document["components"]["schemas"]
    parts += [_type(name, schemas[name]) for name in schemas if name != "Error"]
    return "\n".join(parts)


def _section(
    verb: str, routes: list[str], document: Mapping[str, Any], operation: Operation
) -> str:
    described = document["paths"][_path(routes[0])][verb.lower()]
    short = [_path(route).removeprefix(V1) for route in routes]
    lines = [f"### {verb} {short[0]}", "", operation.says, ""]
    if len(short) > 1:
        lines += ["Also " + ", ".join(f"`{path}`" for path in short[1:]) + ".", ""]
    if operation.query:
        rows = (
            f"| `{name}` | {PARAMETERS[name][0]} | {PARAMETERS[name][1]} |"
            for name in operation.query
        )
        lines += ["| parameter | | |", "|---|---|---|", *rows, ""]
    request = described.get("requestBody")
    if request is not None:
        lines += [f"Body: {_name(_only(request['content']))}.", ""]
    answer = _name(_only(described["responses"]["200"]["content"]))
    lines += [f"Answer: {answer}{', one a line' if operation.lines else ''}.", ""]
    return "\n".join(lines)


def _only(content: Mapping[str, Any]) -> Mapping[str, Any]:
    [found] = content.values()
    schema: Mapping[str, Any] = found["schema"]
    return schema


def _name(schema: Mapping[str, Any]) -> str:
    """Returns a type in a word or two, with links to the types that it has."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = [_name(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return "number" if {*kinds} == {"integer", "number"} else " or ".join(kinds)
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        items = schema.get("items") or {}
        return f"list of {_name(items)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_name(schema['additionalProperties'])}"
    return str(kind)


def _type(name: str, schema: Mapping[str, Any]) -> str:
    lines = [f"### {name}", ""]
    if "description" in schema:
        lines += [schema["description"], ""]
    fields = schema.get("properties")
    if fields is None:
        return "\n".join([*lines, f"One of {_name(schema)}.", ""])
    if not fields:
        return "\n".join(lines if "description" in schema else [*lines, "No fields.", ""])
    required = set(schema.get("required", ()))
    rows = [
        f"| `{each}`{'' if each in required else '?'} | {_name(field)} | {_cell(field)} |"
        for each, field in fields.items()
    ]
    return "\n".join([*lines, "| field | type | |", "|---|---|---|", *rows, ""])


def _cell(field: Mapping[str, Any]) -> str:
    return str(field.get("description", "")).replace("|", "\\|")


def write_methods(documents: Mapping[tuple[str, str], Mapping[str, Any]]) -> str:
    """Returns the page of Google's methods; versions with the same methods are one section."""
    sections: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (_, version), document in documents.items():
        for method in walk(document):
            row = f"| `{method['id'].partition('.')[2]}` | {method['httpMethod']} |"
            place = method.get("flatPath", method["path"]).removeprefix(f"{version}/")
            sections[document["title"]][f"{row} `{place}` |"].append(version)
    parts = [METHODS_HEAD]
    for title, rows in sections.items():
        every = sorted({version for versions in rows.values() for version in versions})
        parts += [f"## {title}\n", f"`{'` and `'.join(every)}`: {len(rows)} methods.\n"]
        parts += ["| method | | path |", "|---|---|---|"]
        for row, versions in rows.items():
            few = "" if len(set(versions)) == len(every) else f" only {', '.join(versions)}"
            parts.append(row[:-2] + few + " |")
        parts.append("")
    return "\n".join(parts)


def walk(resource: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the methods of a resource and of those in it."""
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from walk(inner)


def make_files(served: Served) -> dict[str, str]:
    """Returns the contents of the files by name."""
    document = make_openapi()
    return {
        "openapi.json": json.dumps(document, indent=1) + "\n",
        "api.md": write_page(document),
        "google-methods.md": write_methods(served.documents),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(read_service(Path(folder)))
    for name, text in files.items():
        (REFERENCE / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
