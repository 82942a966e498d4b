"""``--config``: a YAML file with an object of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from footplate.wire.json_text import JsonObject

_VERSIONS = frozenset({"runtimeVersion", "pythonVersion", "runtime_version", "python_version"})


class _Loader(yaml.SafeLoader):
    """Reads ``runtimeVersion: 1.10`` as it is written: as a number it would become 1.1."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001 - PyYAML's
    ) -> dict[Hashable, object]:
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode) and key.value in _VERSIONS:
                value.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


# Dates stay text: JSON has none.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _fault(error: yaml.YAMLError) -> str:
    """Where and what in one line; PyYAML's own words take seven."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return " ".join(str(error).split())
    mark = error.problem_mark
    return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"


def read_config(path: Path) -> JsonObject:
    """The object in the file; an empty file is an empty one.

    Raises:
        InvalidArgument: there is no such file, or no such object in it; says where.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(f"--config: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidArgument(f"--config: {path} is not UTF-8 text") from None
    try:
        # S506 would want SafeLoader by name; this is one.
        content = yaml.load(text, _Loader)  # noqa: S506
    except yaml.YAMLError as error:
        raise InvalidArgument(f"--config: {path} is not YAML: {_fault(error)}") from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise InvalidArgument(f"--config: {path} holds no mapping of fields")
    return content
