"""Options that most commands have: server, project, region."""

from __future__ import annotations

import functools
import os
import shlex
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from footplate.cli.defaults import DEFAULT_PROJECT, DEFAULT_REGION, PROJECT_VARIABLES
from footplate.cli.gcloud_properties import default_region
from footplate.cli.parameter_completion import offered
from footplate.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def with_session(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """Add --project, --url and --data-dir, and hand them over as a Session."""

    @click.option(
        "--project",
        envvar=PROJECT_VARIABLES,
        shell_complete=offered("projects"),
        default=DEFAULT_PROJECT,
        show_default=True,
        metavar="PROJECT",
        help="Project; any name works.",
    )
    @click.option(
        "--url",
        envvar="FOOTPLATE_URL",
        metavar="URL",
        help="The server, if not the one of the data directory.  [env: FOOTPLATE_URL]",
    )
    @click.option(
        "--data-dir",
        envvar="FOOTPLATE_DATA_DIR",
        type=click.Path(),
        metavar="DIR",
        help="Data directory of a server on this machine.  [env: FOOTPLATE_DATA_DIR]",
    )
    @click.pass_context
    @functools.wraps(function)
    def wrapper(
        ctx: click.Context, /, project: str, url: str, data_dir: str, *args: P.args, **kw: P.kwargs
    ) -> R:
        chosen = {"project": project, "url": url, "data_dir": data_dir}
        flags = " ".join(
            f"--{name.replace('_', '-')}={shlex.quote(value)}"
            for name, value in chosen.items()
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        )
        return function(Session(project, url, data_dir, flags), *args, **kw)

    return wrapper  # type: ignore[return-value]  # click hands the three options over itself


def region_option() -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        "--region",
        envvar=["CLOUDSDK_AI_REGION", "CLOUDSDK_COMPUTE_REGION"],
        default=lambda: default_region(os.environ, "ai", DEFAULT_REGION),
        shell_complete=offered("regions"),
        show_default=f"that of gcloud's configuration, or {DEFAULT_REGION}",
        metavar="REGION",
        help="Region; `footplate catalogue regions` lists them.",
    )
