"""What is made from the routes is fresh: the API reference, and the list of Google's methods."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools import make_api_reference as tool
from tools.own_api import OPERATIONS, PARAMETERS

ROOT = Path(__file__).parents[2]
FOLDERS = ("api/footplate_v1", "api/logging_v2")
READ = re.compile(r'(?:call\.(?:parameter|number|repeated)|_number)\(\s*(?:call, )?"(\w+)"')
STREAMED = re.compile(r'(?:given|query_params)\.get\("(\w+)"')


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> tool.Served:
    return tool.read_service(tmp_path_factory.mktemp("served"))


def test_each_route_has_its_operation(served: tool.Served) -> None:
    assert served.own == OPERATIONS.keys()


def test_the_pages_are_as_made(served: tool.Served) -> None:
    """`make reference` makes them."""
    for name, text in tool.make_files(served).items():
        assert (tool.REFERENCE / name).read_text("utf-8") == text, name


def test_parameters_are_those_that_are_read() -> None:
    texts = [
        path.read_text("utf-8")
        for folder in FOLDERS
        for path in (ROOT / "src" / "footplate" / folder).glob("*.py")
    ]
    read = {name for text in texts for name in (*READ.findall(text), *STREAMED.findall(text))}
    named = {name for operation in OPERATIONS.values() for name in operation.query}
    assert named == PARAMETERS.keys()
    assert read <= named
    assert [name for name in named if all(f'"{name}"' not in text for text in texts)] == []


def test_references_lead_to_schemas() -> None:
    """No operation has a type that the document lacks, and no schema is left over."""
    document = tool.make_openapi()
    text = json.dumps(document)
    assert {f"{tool.SCHEMAS}{name}" for name in document["components"]["schemas"]} == {
        *re.findall(r'"\$ref": "([^"]+)"', text)
    }
    ids = re.findall(r'"operationId": "([^"]+)"', text)
    assert len(ids) == len(set(ids)) == len(OPERATIONS)
