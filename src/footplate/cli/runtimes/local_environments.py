"""The environments of this machine's cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.runtime_cache import Environments

P = ParamSpec("P")
R = TypeVar("R")


def data_dir_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--data-dir",
        envvar="FOOTPLATE_DATA_DIR",
        type=click.Path(),
        metavar="DIR",
        help="Data directory whose settings name the cache.  [env: FOOTPLATE_DATA_DIR]",
    )(function)


def environments(data_dir: str | None) -> Environments:
    """Raises InvalidArgument: a setting, or the catalogue file, is wrong."""
    # Imported here: a help text has no use for them.
    import uv

    from footplate.runtime_cache import Environments
    from footplate.settings import load_settings

    settings = load_settings(os.environ, {"data_dir": data_dir})
    return Environments(settings, Path(uv.find_uv_bin()))
