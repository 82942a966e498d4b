"""Reads a job that is given as YAML or JSON. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import yaml

from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Hashable

    from footplate.wire.json_text import JsonObject

MAX_CHARACTERS = 200_000
_KINDS = {
    "trainingInput": "jobs",
    "studySpec": "hyperparameterTuningJobs",
    "trialJobSpec": "hyperparameterTuningJobs",
    "jobSpec": "customJobs",
}
_MAX_DEPTH = 50
_SPEC = "workerPoolSpecs"
_VERSIONS = frozenset({"runtimeVersion", "pythonVersion"})


class _Loader(yaml.SafeLoader):
    """A YAML loader without aliases, which make a short text long, and dates, which JSON lacks.

    It reads versions as text, since the number for 1.10 would be 1.1.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise InvalidArgument(
                "the console reads no aliases (*name): write the values out instead"
            )
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise InvalidArgument("this text is nested too deeply")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001 - PyYAML's
    ) -> dict[Hashable, object]:
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode) and key.value in _VERSIONS:
                value.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_job(text: str) -> tuple[str, JsonObject]:
    """Returns the job's kind, as the last part of its collection, and its request.

    Also accepts the specification alone, which gcloud takes as ``--config`` of a custom job. Raises
    InvalidArgument.
    """
    request = _read(text)
    for field, kind in _KINDS.items():
        if field in request:
            return kind, request
    if _SPEC in request:
        return "customJobs", {"displayName": "custom job", "jobSpec": request}
    allowed = ", ".join([*_KINDS, _SPEC])
    raise InvalidArgument(f"this text is not a job: it has none of the fields {allowed}")


def _read(text: str) -> JsonObject:
    if len(text) > MAX_CHARACTERS:
        raise InvalidArgument(f"the text has more than {MAX_CHARACTERS} characters")
    try:
        found = yaml.load(text, _Loader)  # noqa: S506 - it is a SafeLoader
        made = json.loads(json.dumps(found, allow_nan=False))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InvalidArgument(f"this text is not YAML: {where}{error.problem}") from None
    except yaml.YAMLError as error:
        raise InvalidArgument(f"this text is not YAML: {' '.join(str(error).split())}") from None
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise InvalidArgument(
            "this text has values that JSON can't hold, such as dates or sets"
        ) from None
    if not isinstance(made, dict):
        raise InvalidArgument(
            "this text is not a job: a job is a mapping with fields such as jobSpec"
        )
    return made
