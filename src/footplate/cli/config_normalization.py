"""Normalises a config file as gcloud does for a message of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args, get_origin

from pydantic.alias_generators import to_camel

from footplate.wire.json_model import JsonModel

if TYPE_CHECKING:
    from pydantic import JsonValue

    from footplate.wire.json_text import JsonObject


def as_message(model: type[JsonModel], content: JsonObject) -> JsonObject:
    """Known fields get their lowerCamelCase names; a lone value in place of a list is one of it.

    A field that is given in both spellings stays as it is: the service says what is wrong.
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
