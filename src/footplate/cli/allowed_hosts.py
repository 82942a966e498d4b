"""The option ``--allow-host``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_HOST = re.compile(r"\.?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")


def allow_host_option() -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        "--allow-host",
        "allow_hosts",
        multiple=True,
        callback=_check,
        metavar="HOST",
        help=(
            "Let programs reach this host directly, without the proxy; may be given several times."
        ),
    )


def _check(_ctx: click.Context, _option: object, hosts: tuple[str, ...]) -> tuple[str, ...]:
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise click.BadParameter(f"{host!r} given; allowed: a name such as pypi.org")
    return hosts
