"""The base class of answers: the server writes them, the client and the commands read them."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, JsonValue, PlainSerializer, ValidationError
from pydantic.alias_generators import to_camel

from footplate.domain.errors import UnknownError
from footplate.wire.doubles import double_json
from footplate.wire.json_text import JsonObject, describe

Number = Annotated[int | float, PlainSerializer(double_json)]
"""Not always finite; a whole number stays one."""


class Answer(BaseModel):
    """A message of Footplate's own API, in lowerCamelCase on the wire.

    Readers keep fields that they don't know, which a newer server sends, and give them back.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="allow",
        frozen=True,
        populate_by_name=True,
        protected_namespaces=(),
    )

    @classmethod
    def decode(cls, value: Mapping[str, JsonValue]) -> Self:
        """Raises UnknownError, with the first field that is wrong."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            path = ".".join(map(str, first["loc"]))
            given = "" if first["type"] == "missing" else f"{describe(first['input'])} given; "
            raise UnknownError(
                f"the server sent an invalid answer: {path}: {given}{first['msg']}"
            ) from None

    def encode(self) -> JsonObject:
        """Returns the fields that were given, and not None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
