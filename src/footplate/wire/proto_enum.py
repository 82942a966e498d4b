"""Enums in proto3 JSON, as a name or a number."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Self

from pydantic_core import core_schema

from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler


class ProtoEnum(IntEnum):
    """An enum; GAPIC clients send numbers, all others names, and answers have names."""

    @classmethod
    def parse(cls, value: object) -> Self:
        """Returns the member that a JSON value means. Raises ValueError, naming all members.

        The case doesn't count, as with Google's services: tensorflow-cloud sends ``custom``.
        """
        if isinstance(value, str) and value.upper() in cls.__members__:
            return cls[value.upper()]
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(number, int) and not isinstance(number, bool):
            for member in cls:
                if member.value == number:
                    return member
        raise ValueError(f"{describe(value)} given; allowed: {', '.join(cls.__members__)}")

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(_name),
        )


def _name(member: ProtoEnum) -> str:
    return member.name
