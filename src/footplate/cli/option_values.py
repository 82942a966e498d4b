"""gcloud's syntax for lists, dictionaries and names in options; sizes and durations; completion."""

from __future__ import annotations

import functools
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _typeshed import DataclassInstance

_ESCAPE = re.compile(r"\^([^^]+)\^", re.DOTALL)
"""``^;^a;b``: another separator than the comma."""


class ListValue(click.ParamType[list[str]]):
    """A parameter that is a list: ``a,b,c``, or ``^;^a;b,c`` if a value has a comma."""

    name = "list"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002 - click's signature
    ) -> list[str]:
        return value if isinstance(value, list) else split_list(str(value))


class DictValue(click.ParamType[dict[str, str]]):
    """A parameter ``key=value,key=value``. ``keys`` are the allowed ones; empty allows all."""

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
                self.fail(
                    f"{key!r} is not a key of this option; allowed: {', '.join(self.keys)}",
                    param,
                    ctx,
                )
            if key in pairs:
                self.fail(f"the key {key!r} is given twice", param, ctx)
            pairs[key] = text
        return pairs


class RepeatableOption(click.Option):
    """An option with a list or dictionary; repeated ones are joined, as in gcloud.

    ``default`` is its value if it isn't given.
    """

    def __init__(self, *names: Any, default: object = None, **settings: Any) -> None:  # click's
        super().__init__(*names, **{**settings, "multiple": True})
        self._not_given = default

    def process_value(self, ctx: click.Context, value: object) -> object:
        given = super().process_value(ctx, value)
        if not given:
            return self._not_given
        if isinstance(given[0], list):
            return [word for words in given for word in words]
        pairs: dict[str, str] = {}
        for each in given:
            for key in pairs.keys() & each.keys():
                raise click.BadParameter(f"the key {key!r} is given twice", ctx, self)
            pairs.update(each)
        return pairs


def split_list(text: str) -> list[str]:
    separator = ","
    if match := _ESCAPE.match(text):
        separator, text = match[1], text[match.end() :]
    return text.split(separator) if text else []


def enum_name(text: str) -> str:
    """Returns the API's spelling of an enum: ``NVIDIA_TESLA_T4`` for ``nvidia-tesla-t4``."""
    return text.upper().replace("-", "_")


class UserArgsCommand(click.Command):
    """A command that passes all words after a bare ``--`` unchanged, as ``user_args``.

    Without ``--``, ``user_args`` is None.
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
            hint = f"Give the program's own options last, after --: -- {error.option_name} ..."
            name = error.option_name
            raise click.NoSuchOption(name, f"{error.message} {hint}", ctx=ctx) from None
        ctx.params["user_args"] = user_args
        return rest

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Returns the parameters; none when completing the program's own, after ``--``."""
        return [] if ctx.params.get("user_args") is not None else super().get_params(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes files among the program's own arguments, which are unknown here."""
        if ctx.params.get("user_args") is not None:
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, incomplete)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ARGS...]"]


P = ParamSpec("P")
R = TypeVar("R")


def gathered(
    name: str, kind: type[DataclassInstance]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns a decorator that passes options as one ``kind``, in the argument ``name``."""
    parts = [field.name for field in fields(kind)]

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kw: P.kwargs) -> R:
            kw[name] = kind(**{part: kw.pop(part) for part in parts})
            return function(*args, **kw)

        return wrapper

    return decorate


def offered(
    what: str,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Returns a completion; ``what`` is its key in COMPLETIONS."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        # Imported here: only who presses tab has a use for it.
        from footplate.cli.completion_values import COMPLETIONS

        return COMPLETIONS[what](ctx, parameter, incomplete)

    return complete


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_DURATION_TEXT = re.compile(r"(\d{1,9})([smhdw])")
_SIZE_TEXT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([kmgt]?b)", re.IGNORECASE)


class Duration(click.ParamType[float]):
    """A parameter that is a duration such as ``30d``; its value is in seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        match = _DURATION_TEXT.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} given; allowed: a number with s, m, h, d or w: 30d", param, ctx)
        return float(int(match[1]) * _SECONDS[match[2]])


class Size(click.ParamType[int]):
    """A parameter that is a size such as ``20GB``; its value is in bytes."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        match = _SIZE_TEXT.fullmatch(str(value).strip())
        if match is None:
            allowed = "a number with B, KB, MB, GB or TB: 20GB"
            self.fail(f"{value!r} given; allowed: {allowed}", param, ctx)
        return int(float(match[1]) * _BYTES[match[2].lower()])


def size(count: int) -> str:
    """Formats bytes as disks are sold: a GB has 10^9 bytes."""
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= bytes_:
            return f"{count / bytes_:.1f} {unit}"
    return f"{count} B"


def ago(seconds: float) -> str:
    """Returns text such as ``2 hours ago``, in the largest unit with at least two."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now" if seconds < 60 else "a minute ago"


yes_option = click.option(
    "--yes",
    "-y",
    "--quiet",
    "-q",
    "yes",
    is_flag=True,
    help="Do not ask.",
)
"""gcloud calls it ``--quiet``."""
