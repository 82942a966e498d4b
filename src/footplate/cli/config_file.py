"""``--config``: a YAML file with an object of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args, get_origin

import yaml
from pydantic.alias_generators import to_camel

from footplate.domain.errors import InvalidArgument
from footplate.wire.json_model import JsonModel

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from pydantic import JsonValue

    from footplate.wire.json_text import JsonObject

_MOST_VALUES = 100_000
_RECOGNISED_KEYS = {
    "trainingInput": "ai-platform jobs submit training",
    "workerPoolSpecs": "ai custom-jobs create",
    "studySpec": "ai hp-tuning-jobs create",
    "trialJobSpec": "ai hp-tuning-jobs create",
}
"""Fields that files of one command have only, by which one takes them for another's."""
_VERSIONS = frozenset({"runtimeVersion", "pythonVersion", "runtime_version", "python_version"})


class _Loader(yaml.SafeLoader):
    """A YAML loader that reads ``runtimeVersion: 1.10`` as text, since the number would be 1.1."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001 - PyYAML's
    ) -> dict[Hashable, object]:
        for key, value in node.value:
            both = isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)
            if both and key.value in _VERSIONS:
                value.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


# Dates stay text: JSON has none.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _fault(error: yaml.YAMLError) -> str:
    """Returns place and error in one line; PyYAML's own message has seven."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return " ".join(str(error).split())
    mark = error.problem_mark
    return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"


def _is_endless(content: object) -> bool:
    """Returns whether there are too many values to send; a few lines with aliases suffice."""
    left = [content]
    for _ in range(_MOST_VALUES):
        if not left:
            return False
        value = left.pop()
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
    return True


def read_config(path: Path, command: str) -> JsonObject:
    """Returns the object in the file, {} for an empty file; ``command`` is the command that reads
    it.

    Raises:
        InvalidArgument: the file doesn't exist, has no object (the message says where), or is for
            another command.
    """
    content = _read_file(path)
    for field, other in _RECOGNISED_KEYS.items():
        if field in content and other != command:
            raise InvalidArgument(
                f"--config: the file {path} has the field {field} of "
                f"another command, `footplate {other}`"
            )
    return content


def _read_file(path: Path) -> JsonObject:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(f"--config: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidArgument(f"--config: the file {path} is not UTF-8 text") from None
    try:
        # S506 would want SafeLoader by name; this is one.
        content = yaml.load(text, _Loader)  # noqa: S506
    except yaml.YAMLError as error:
        raise InvalidArgument(f"--config: the file {path} is not YAML: {_fault(error)}") from None
    except RecursionError:
        raise InvalidArgument(f"--config: the file {path} is nested too deeply") from None
    if content is None:
        return {}
    if _is_endless(content):
        raise InvalidArgument(
            f"--config: the file {path} has over {_MOST_VALUES} values, because aliases (*name) "
            "repeat values; write the values out instead"
        )
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise InvalidArgument(f"--config: the file {path} is not a mapping of fields")
    return content


def as_message(model: type[JsonModel], content: JsonObject) -> JsonObject:
    """Returns the content with lowerCamelCase names for known fields, and single values as lists
    where needed.

    A field given in both spellings stays as it is: the service reports the fault.
    """
    kinds = {name: field.annotation for name, field in model.model_fields.items()}
    snake = {to_camel(name): name for name in kinds}
    made: JsonObject = {}
    for key, value in content.items():
        name, alias = snake.get(key, key), to_camel(key)
        if name not in kinds or (key != alias and alias in content):
            made[key] = value
        else:
            made[alias] = _as_kind(kinds[name], value)
    return made


def _as_kind(kind: object, value: JsonValue) -> JsonValue:
    if value is None:
        return None
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        items = value if isinstance(value, list) else [value]
        return [_as_kind(inner, item) for item in items]
    if isinstance(kind, type) and issubclass(kind, JsonModel):
        return as_message(kind, value) if isinstance(value, dict) else value
    for one in get_args(kind):
        if get_origin(one) is list or (isinstance(one, type) and issubclass(one, JsonModel)):
            return _as_kind(one, value)
    return value
