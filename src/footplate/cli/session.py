"""The server and project that a command uses, and the options that name them."""

from __future__ import annotations

import functools
import json
import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from footplate.cli.defaults import (
    DEFAULT_PROJECT,
    DEFAULT_REGION,
    PROJECT_VARIABLES,
    default_region,
)
from footplate.cli.jobs.kinds import CUSTOM, KINDS
from footplate.cli.option_values import offered
from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.names import parse_job_name
from footplate.replica.isolation.procfs import is_there

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.cli.jobs.kinds import Kind, N
    from footplate.client.service import Service
    from footplate.settings import Settings

LOOKED_FOR = "footplate.job"
"""Where a context keeps the session and the name of the job that the command line names."""


@dataclass(frozen=True)
class Session:
    """The values of the common options. ``flags`` repeats those of the command line, for hints."""

    project: str
    url: str | None = None
    data_dir: str | None = None
    flags: str = ""

    def target(self) -> Target:
        """Finds the server, anew at each call, as a restarted one may have another port.

        Raises:
            Unavailable: no server runs there.
        """
        if self.url:
            return Target(self.url.rstrip("/"), self._token())
        return find_server(self.settings())

    def _token(self) -> str | None:
        return (os.environ.get("FOOTPLATE_TOKEN") or None) if self.url else self.settings().token

    def settings(self) -> Settings:
        """Returns the settings of the data directory's server, whether it runs or not."""
        # Imported here: a help text has no use for the settings.
        from footplate.settings import load_settings

        return load_settings(os.environ, {"data_dir": self.data_dir})

    def connect(self, timeout_s: float = 60.0) -> Service:
        # Imported here: httpx takes longer than everything else that a help text needs.
        from footplate.client.service import Service

        target = self.target()
        return Service(target.url, target.token, timeout_s)

    def connect_to(self, url: str) -> Service:
        """Connects to another server of the same service."""
        from footplate.client.service import Service

        return Service(url, self._token())

    def job(self, kind: Kind[N], text: str, region: str = "") -> N:
        """Returns the name of the job that ``text`` stands for: an id, or a full resource name.

        Also remembers the name for hints, if the job isn't found.

        Raises:
            InvalidArgument: ``text`` names a job of another kind.
        """
        name = kind.name(self.project, region, text) if "/" not in text else _named(kind, text)
        ctx = click.get_current_context(silent=True)
        if ctx is not None:
            ctx.meta[LOOKED_FOR] = (self, name)
        return name


def _named(kind: Kind[N], text: str) -> N:
    name = parse_job_name(text)
    if not isinstance(name, kind.names):
        # The program of a pipeline is a custom job.
        other = KINDS.get(type(name), CUSTOM)
        what = other.noun if type(name) in KINDS else "training pipeline"
        raise InvalidArgument(f"{text!r} is a {what}; see `footplate {other.group}`")
    return name


@dataclass(frozen=True)
class Target:
    """A server, and the token that it requires."""

    url: str
    token: str | None


def find_server(settings: Settings) -> Target:
    """Returns the leading server or, if that was killed, another one that runs."""
    files = [settings.data_dir / "server.json", *settings.data_dir.glob("servers/*.json")]
    found = [server for server in map(announced, files) if server is not None]
    if not found:
        raise Unavailable(
            f"no Footplate server runs with the data directory {settings.data_dir}; start a "
            "server with `footplate up`, or name another one with --url or --data-dir"
        )
    url, _ = next((server for server in found if is_there(server[1])), found[0])
    return Target(url, settings.token)


def announced(path: Path) -> tuple[str, int] | None:
    """Returns the address and the process of a registered server; None if the file isn't valid."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return str(document["url"]), int(document.get("pid") or 0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # the error names the place
        return None


P = ParamSpec("P")
R = TypeVar("R")


_PROJECT = click.option(
    "--project",
    envvar=PROJECT_VARIABLES,
    shell_complete=offered("projects"),
    default=DEFAULT_PROJECT,
    show_default=True,
    metavar="PROJECT",
    help="Project; any name works.",
)
_ANY_PROJECT = click.option(
    "--project",
    shell_complete=offered("projects"),
    default="",
    metavar="PROJECT",
    help="Only jobs of this project; the default is all projects.",
)


def with_session(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """Adds --project, --url and --data-dir, and passes them as a Session."""
    return _PROJECT(_with_server(function))


def with_all_projects(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """Works like ``with_session``, but without --project the project is empty, which means all."""
    return _ANY_PROJECT(_with_server(function))


def _with_server(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    @click.option(
        "--url",
        envvar="FOOTPLATE_URL",
        metavar="URL",
        help=(
            "URL of the server; the default is the server of the data directory.  [env: "
            "FOOTPLATE_URL]"
        ),
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
        show_default=f"the region in gcloud's configuration, or {DEFAULT_REGION}",
        metavar="REGION",
        help="Region; `footplate catalogue regions` lists all regions.",
    )
