"""The steps that all commands which create a job share."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, Protocol

import click

from footplate.cli.dry_run import finish
from footplate.cli.jobs.actions import print_warnings, stream_logs, tell_wait
from footplate.cli.jobs.kinds import job_commands
from footplate.cli.keyboard_interrupt import at_interrupt, job_goes_on
from footplate.cli.packaging.staging import BuiltPackages
from footplate.cli.trials.summary import is_tuning
from footplate.domain.errors import ServiceError
from footplate.domain.job_states import State

if TYPE_CHECKING:
    from footplate.cli.jobs.options import SubmissionOptions
    from footplate.cli.packaging.staging import PackageStore
    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.client.validation import Uploads
    from footplate.domain.names import JobName
    from footplate.wire.json_text import JsonObject


class Draft(Protocol):
    """A job to submit, described by a command line."""

    def forecast_end(self) -> JsonObject:
        """Returns the request as far as it is known before anything is built or uploaded."""

    def stage(self, storage: PackageStore) -> JsonObject:
        """Builds and uploads the code that the request names; returns the request."""

    def package(self, storage: PackageStore) -> JsonObject:
        """Returns the same request as ``stage``, but builds only packages, no image."""

    @property
    def collection(self) -> str:
        """The collection of the job: ``projects/P/jobs``, or its like."""

    def uploads(self) -> Uploads | None:
        """Returns what ``stage`` uploads; None: nothing."""

    def create(self, service: Service, request: JsonObject) -> Job:
        """Creates the job."""


def submit(session: Session, options: SubmissionOptions, draft: Draft) -> Job:
    """Submits the job, prints its warnings, and follows it if requested.

    With --dry-run it submits nothing, and ends the process with the verdict.
    """
    with session.connect() as service:
        service.health()
        if options.dry_run:
            _finish_dry_run(service, options, draft)
        created = draft.create(service, draft.stage(service.storage))
    announce(session, created.name, tuning=is_tuning(created.resource))
    if options.stream_logs:
        stream_logs(session, created.name)
    print_submission_notes(session, created.name)
    if not options.detach:
        print_queue_reason(session, created.name)
    return created


def _finish_dry_run(service: Service, options: SubmissionOptions, draft: Draft) -> NoReturn:
    request, checks = draft.forecast_end(), service.validations
    verdict = checks.check(draft.collection, request, draft.uploads())
    if not (options.check_packages and verdict.accepted):
        finish(verdict, options.layout)
    click.secho("Checking whether the packages can be installed ...", err=True, dim=True)
    built = BuiltPackages()
    request = draft.package(built)
    found = checks.check_packages(draft.collection, request, built.contents, draft.uploads())
    finish(verdict, options.layout, found)


def announce(session: Session, name: JobName, *, tuning: bool) -> None:
    """Prints the id and next commands on stderr; stdout is for the resource.

    ``tuning``: the job has trials.
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
    """Prints the job's warnings; ignores errors, since the job is submitted."""
    with suppress(ServiceError), session.connect() as service:
        print_warnings(list(service.events(name)))


def print_queue_reason(session: Session, name: JobName) -> None:
    """Prints why the job waits; ignores errors, since the job is submitted."""
    with suppress(ServiceError), session.connect() as service:
        job = service.job(name)
        if job.state is State.QUEUED:
            tell_wait(job)
