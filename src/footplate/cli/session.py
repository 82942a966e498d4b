"""Which server a command talks to, for which project."""

from __future__ import annotations

import functools
import json
import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from footplate.cli.offering import offered
from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.names import CustomJobName, TrainingJobName, TuningJobName, parse_job_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.client.service import Service
    from footplate.domain.names import JobName
    from footplate.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")
N = TypeVar("N", bound="JobName")

_VERBS = ("describe", "stream-logs", "events", "trials", "cancel")

LOOKED_FOR = "footplate.job"
"""Where a context keeps the session and the name of the job that the command line names."""

DEFAULT_PROJECT = "demo"
PROJECT_VARIABLES = ["FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"]
DEFAULT_REGION = "us-central1"


@dataclass(frozen=True)
class Target:
    """A server, and the token it wants."""

    url: str
    token: str | None


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
        return _find(self.settings())

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

    def training_job(self, text: str) -> TrainingJobName:
        """The job that ``text`` names: its id, or its whole resource name."""
        if "/" not in text:
            return self._looking_for(TrainingJobName(self.project, text))
        return self._looking_for(_of_kind(TrainingJobName, text))

    def custom_job(self, text: str, region: str) -> CustomJobName:
        """The job that ``text`` names: its id, or its whole resource name."""
        if "/" not in text:
            return self._looking_for(CustomJobName(self.project, region, text))
        return self._looking_for(_of_kind(CustomJobName, text))

    def tuning_job(self, text: str, region: str) -> TuningJobName:
        """The job that ``text`` names: its id, or its whole resource name."""
        if "/" not in text:
            return self._looking_for(TuningJobName(self.project, region, text))
        return self._looking_for(_of_kind(TuningJobName, text))

    def _looking_for(self, name: N) -> N:
        """Remembered, for the way out where there is no such job."""
        ctx = click.get_current_context(silent=True)
        if ctx is not None:
            ctx.meta[LOOKED_FOR] = (self, name)
        return name


_GROUPS: dict[type[JobName], tuple[str, str]] = {
    TrainingJobName: ("training job", "ai-platform jobs"),
    CustomJobName: ("custom job", "ai custom-jobs"),
    TuningJobName: ("tuning job", "ai hp-tuning-jobs"),
}
"""By the kind of a job's name: what it is, and the commands that take it."""


def _of_kind(kind: type[N], text: str) -> N:
    name = parse_job_name(text)
    if not isinstance(name, kind):
        what, group = _GROUPS[type(name)]
        raise InvalidArgument(f"{text!r} is a {what}; see `footplate {group}`")
    return name


def _find(settings: Settings) -> Target:
    """The server that leads; where that one was killed, another one that lives."""
    files = [settings.data_dir / "server.json", *settings.data_dir.glob("servers/*.json")]
    found = [server for server in map(_announced, files) if server is not None]
    if not found:
        raise Unavailable(
            f"no Footplate server runs with the data directory {settings.data_dir}; "
            "start one with `footplate up`, or say where it is with --url or --data-dir"
        )
    url, _ = next((server for server in found if _lives(server[1])), found[0])
    return Target(url, settings.token)


def _announced(path: Path) -> tuple[str, int] | None:
    """Where a server says that it answers, and its process."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return str(document["url"]), int(document.get("pid") or 0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def job_commands(name: JobName, flags: str = "") -> dict[str, str]:
    """The command lines that go on with a job, by verb."""
    _, group = _GROUPS[type(name)]
    operand = name.job_id
    if not isinstance(name, TrainingJobName):
        operand = str(name)
        flags = " ".join(f for f in shlex.split(flags) if not f.startswith("--project="))
    tail = f" {flags}" if flags else ""
    return {verb: f"footplate {group} {verb} {operand}{tail}" for verb in _VERBS}


def list_command(name: JobName, flags: str = "") -> str:
    """The command line that lists the jobs beside this one."""
    _, group = _GROUPS[type(name)]
    words = ["footplate", group, "list"]
    given = [flag for flag in shlex.split(flags) if not flag.startswith("--project=")]
    if name.project != DEFAULT_PROJECT or len(given) < len(shlex.split(flags)):
        words.append(f"--project={name.project}")
    if not isinstance(name, TrainingJobName) and name.location != DEFAULT_REGION:
        words.append(f"--region={name.location}")
    return " ".join([*words, *map(shlex.quote, given)])


def with_session(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """Add --project, --url and --data-dir, and hand them over as a Session."""

    @click.option(
        "--project",
        envvar=PROJECT_VARIABLES,
        shell_complete=offered("projects"),
        default=DEFAULT_PROJECT,
        show_default=True,
        metavar="PROJECT",
        help="Project; any name will do.",
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
        default=DEFAULT_REGION,
        shell_complete=offered("regions"),
        show_default=True,
        metavar="REGION",
        help="Region; `footplate catalogue regions` lists them.",
    )
