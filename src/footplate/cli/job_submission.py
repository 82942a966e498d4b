"""The steps that all commands which create a job share."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, ParamSpec, Protocol, TypeVar

import click

from footplate.cli.dry_run import check_packages_option, dry_run_option, finish
from footplate.cli.job_commands import print_warnings, stream_logs, tell_wait
from footplate.cli.keyboard_interrupt import at_interrupt, job_goes_on
from footplate.cli.next_commands import job_commands
from footplate.cli.option_groups import gathered
from footplate.cli.output_format import format_option
from footplate.cli.packaging.built_packages import BuiltPackages
from footplate.cli.stream_options import stream_logs_option
from footplate.domain.errors import ServiceError
from footplate.domain.job_states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.packaging.built_packages import PackageStore
    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.client.validation import Checked
    from footplate.domain.names import JobName
    from footplate.domain.preview.package_check import PackageCheck
    from footplate.wire.json_text import JsonObject

P = ParamSpec("P")
R = TypeVar("R")


class Draft(Protocol):
    """A job as a command line describes it."""

    def forecast_end(self) -> JsonObject:
        """The request, as far as it is known before anything is built or uploaded."""

    def stage(self, storage: PackageStore) -> JsonObject:
        """The request, with what it names built and uploaded."""

    def package(self, storage: PackageStore) -> JsonObject:
        """As ``stage``, but with packages only: no image is built."""

    def check(self, service: Service, request: JsonObject) -> Checked:
        """Validates the draft in the service."""

    def check_packages(
        self, service: Service, request: JsonObject, built: Mapping[str, bytes]
    ) -> tuple[PackageCheck, ...]:
        """Whether its packages can be installed; ``built``: those that ``stage`` uploads."""

    def create(self, service: Service, request: JsonObject) -> Job:
        """Make the job."""


@dataclass(frozen=True)
class SubmissionOptions:
    """What the options say of how a job is made, and of what comes after."""

    layout: Layout
    stream_logs: bool
    detach: bool
    dry_run: bool
    check_packages: bool

    def __post_init__(self) -> None:
        if self.check_packages and not self.dry_run:
            raise click.UsageError("--check-packages needs --dry-run")
        if self.stream_logs and self.detach:
            raise click.UsageError("--async and --stream-logs exclude each other")

    def submit(self, session: Session, draft: Draft) -> Job:
        """Submit the job, print it, and follow it if requested.

        With --dry-run nothing is made, and the process ends with the verdict.
        """
        # Imported here: start-up time of help texts.
        from footplate.cli.trials.summary import is_tuning

        with session.connect() as service:
            service.health()
            if self.dry_run:
                self._finish_dry_run(service, draft)
            created = draft.create(service, draft.stage(service.storage))
        announce(session, created.name, tuning=is_tuning(created.resource))
        if self.stream_logs:
            stream_logs(session, created.name)
        print_submission_notes(session, created.name)
        if not self.detach:
            print_queue_reason(session, created.name)
        return created

    def _finish_dry_run(self, service: Service, draft: Draft) -> NoReturn:
        checked = draft.check(service, draft.forecast_end())
        if not (self.check_packages and checked.verdict.accepted):
            finish(checked, self.layout)
        click.secho("Checking whether the packages can be installed ...", err=True, dim=True)
        built = BuiltPackages()
        request = draft.package(built)
        found = draft.check_packages(service, request, built.contents)
        finish(checked, self.layout, found)


def submitting_options(function: Callable[P, R]) -> Callable[P, R]:
    """How the job is made, and --format, handed over as ``submitting``."""
    function = format_option("yaml")(gathered("submitting", SubmissionOptions)(function))
    return stream_logs_option(dry_run_option(check_packages_option(function)))


def announce(session: Session, name: JobName, *, tuning: bool) -> None:
    """Print the id and next commands on stderr; stdout is for the resource.

    ``tuning``: it has trials.
    """
    commands = job_commands(name, session.flags)
    at_interrupt(job_goes_on(name.job_id, commands))
    click.echo(f"Job {name.job_id} submitted.", err=True)
    if tuning:
        click.echo(f"  trials:   {commands['trials']} --watch", err=True)
    click.echo(f"  follow:   {commands['stream-logs']}", err=True)
    click.echo(f"  describe: {commands['describe']}", err=True)
    click.echo(f"  cancel:   {commands['cancel']}", err=True)


def print_submission_notes(session: Session, name: JobName) -> None:
    """Print the job's warnings. Errors are ignored: the submission has succeeded."""
    with suppress(ServiceError), session.connect() as service:
        print_warnings(list(service.events(name)))


def print_queue_reason(session: Session, name: JobName) -> None:
    """Print once why the job waits. Errors are ignored: the submission has succeeded."""
    with suppress(ServiceError), session.connect() as service:
        job = service.job(name)
        if job.state is State.QUEUED:
            tell_wait(job)
