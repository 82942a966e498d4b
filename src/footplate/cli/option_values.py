"""gcloud's syntax for lists, dictionaries and names in options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable

_ESCAPE = re.compile(r"\^([^^]+)\^", re.DOTALL)
"""``^;^a;b``: another separator than the comma."""


class ListValue(click.ParamType[list[str]]):
    """``a,b,c``, or ``^;^a;b,c`` where a value has a comma."""

    name = "list"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002 - click's signature
    ) -> list[str]:
        return value if isinstance(value, list) else split_list(str(value))


class DictValue(click.ParamType[dict[str, str]]):
    """``key=value,key=value``; ``keys`` are those allowed, if not all are."""

    name = "dictionary"

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.keys = tuple(keys)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, str]:
        if isinstance(value, dict):
            return value
        pairs: dict[str, str] = {}
        for part in split_list(str(value)):
            key, equals, text = part.partition("=")
            key = key.strip()
            if not equals or not key:
                self.fail(f"{part!r} given; allowed: KEY=VALUE", param, ctx)
            if self.keys and key not in self.keys:
                self.fail(f"there is no key {key!r}; there are {', '.join(self.keys)}", param, ctx)
            if key in pairs:
                self.fail(f"the key {key!r} is given twice", param, ctx)
            pairs[key] = text
        return pairs


def split_list(text: str) -> list[str]:
    separator = ","
    if match := _ESCAPE.match(text):
        separator, text = match[1], text[match.end() :]
    return text.split(separator) if text else []


def enum_name(text: str) -> str:
    """``nvidia-tesla-t4`` and ``NVIDIA_TESLA_T4`` alike."""
    return text.upper().replace("-", "_")


class UserArgsCommand(click.Command):
    """All that follows a bare ``--`` goes to the parameter ``user_args``, untouched, in order.

    None: there was no ``--``.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, user_args = args, None
        if "--" in args:
            end = args.index("--")
            own, user_args = args[:end], args[end + 1 :]
        try:
            rest = super().parse_args(ctx, own)
        except click.NoSuchOption as error:
            if error.possibilities:
                raise
            hint = f"What is for your program comes last: -- {error.option_name} ..."
            name = error.option_name
            raise click.NoSuchOption(name, f"{error.message} {hint}", ctx=ctx) from None
        ctx.params["user_args"] = user_args
        return rest

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """None where a word after ``--`` is completed: ``--region`` there is the program's."""
        return [] if ctx.params.get("user_args") is not None else super().get_params(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a program takes nobody here knows: as shells do then, its arguments are files."""
        if ctx.params.get("user_args") is not None:
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, incomplete)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ARGS...]"]
