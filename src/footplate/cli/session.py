"""The server and project that a command uses."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from footplate.cli.jobs.kinds import CUSTOM, KINDS
from footplate.cli.server_address import Target, find_server
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import parse_job_name

if TYPE_CHECKING:
    from footplate.cli.jobs.kinds import Kind, N
    from footplate.client.service import Service
    from footplate.settings import Settings

LOOKED_FOR = "footplate.job"
"""Where a context keeps the session and the name of the job that the command line names."""


@dataclass(frozen=True)
class Session:
    """What the common options say. ``flags`` repeats those of the command line, for hints."""

    project: str
    url: str | None = None
    data_dir: str | None = None
    flags: str = ""

    def target(self) -> Target:
        """Found anew at each call: a server that starts again may have another port.

        Raises:
            Unavailable: no server runs there.
        """
        if self.url:
            return Target(self.url.rstrip("/"), self._token())
        return find_server(self.settings())

    def _token(self) -> str | None:
        return (os.environ.get("FOOTPLATE_TOKEN") or None) if self.url else self.settings().token

    def settings(self) -> Settings:
        """Those of the server that the data directory belongs to, whether it runs or not."""
        # Imported here: a help text has no use for the settings.
        from footplate.settings import load_settings

        return load_settings(os.environ, {"data_dir": self.data_dir})

    def connect(self, timeout_s: float = 60.0) -> Service:
        # Imported here: httpx takes longer than everything else that a help text needs.
        from footplate.client.service import Service

        target = self.target()
        return Service(target.url, target.token, timeout_s)

    def connect_to(self, url: str) -> Service:
        """To another server of the same service."""
        from footplate.client.service import Service

        return Service(url, self._token())

    def job(self, kind: Kind[N], text: str, region: str = "") -> N:
        """The job that ``text`` names: its id, or its whole resource name.

        Hints remember it, if it isn't found.

        Raises:
            InvalidArgument: it is a job of another kind.
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
