"""``footplate ai custom-jobs``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.catalogue import accelerator_option, list_machine_types
from footplate.cli.group import Entry, Group
from footplate.cli.jobs.kinds import CUSTOM
from footplate.cli.jobs.options import (
    POOL_KEYS,
    create_options,
    display_name_option,
    kms_key_name,
)
from footplate.cli.jobs.verbs import entry
from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.listing import Listing, list_options
from footplate.cli.option_values import DictValue, ListValue, RepeatableOption, offered
from footplate.cli.output_format import render
from footplate.cli.session import with_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.jobs.options import SubmissionOptions
    from footplate.cli.session import Session

P = ParamSpec("P")
R = TypeVar("R")


def _program_options(function: Callable[P, R]) -> Callable[P, R]:
    for option in (
        click.option(
            "--persistent-resource-id",
            metavar="ID",
            help="The persistent resource whose machines run the job.",
        ),
        click.option(
            "--staging-bucket",
            metavar="gs://BUCKET",
            shell_complete=offered("places"),
            help=(
                "Bucket for local code; the default is gs://PROJECT-footplate-staging, which the "
                "command creates when needed."
            ),
        ),
        click.option(
            "--python-package-uris",
            cls=RepeatableOption,
            type=ListValue(),
            default=[],
            metavar="gs://...,...",
            help="Packages for all pools with an executor image.",
        ),
        click.option(
            "--command",
            cls=RepeatableOption,
            type=ListValue(),
            metavar="WORD,...",
            help="Command of the containers, in place of the image's.",
        ),
        click.option(
            "--args",
            cls=RepeatableOption,
            type=ListValue(),
            metavar="ARG,...",
            help="Arguments of the programs.",
        ),
        click.option(
            "--config",
            type=click.Path(),
            metavar="FILE",
            help="YAML file with a CustomJobSpec; options override the file.",
        ),
        click.option(
            "--worker-pool-spec",
            "worker_pools",
            type=DictValue(POOL_KEYS),
            multiple=True,
            metavar="KEY=VALUE,...",
            help=(
                "A worker pool; the first pool has the primary replica. Repeat the option "
                "for more pools."
            ),
        ),
    ):
        function = option(function)
    return function


@click.command("create")
@display_name_option
@_program_options
@create_options
@with_session
def create(
    session: Session,
    /,
    region: str,
    submitting: SubmissionOptions,
    display_name: str,
    worker_pools: tuple[dict[str, str], ...],
    config: str | None,
    python_package_uris: list[str],
    staging_bucket: str | None,
    **options: object,
) -> None:
    """Create a custom job, which starts as soon as there is room for it.

    A worker pool requires machine-type, and one of these sets of keys:

    \b
      container-image-uri                       an image of yours, which Docker or Podman runs
      executor-image-uri, python-module         packages in buckets (--python-package-uris)
      executor-image-uri, local-package-path,   code in a folder here, with requirements,
        and script or python-module             extra-packages, extra-dirs (parted by ;)

    With output-image-uri local code becomes an image: Docker or Podman builds it from
    executor-image-uri, and pushes it if its name begins with a registry.

    Other keys: replica-count, accelerator-type, accelerator-count, boot-disk-type,
    boot-disk-size. An empty one keeps the place of a pool that isn't used.

    \b
    Examples:
      footplate ai custom-jobs create --display-name=census \\
          --worker-pool-spec=machine-type=n1-standard-4,\\
      executor-image-uri=us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest,\\
      local-package-path=.,script=train.py --args=--epochs=3

    \b
      footplate ai custom-jobs create --display-name=census --config=job.yaml --dry-run
    """
    if not worker_pools and config is None:
        raise click.UsageError("--worker-pool-spec or --config is needed")
    # Imported here: help texts need neither YAML nor the packager.
    from footplate.cli.config_file import read_config
    from footplate.cli.jobs.custom_job_draft import CustomJobDraft, PoolArguments
    from footplate.cli.jobs.submission import submit

    project, uris = session.project, tuple(python_package_uris)
    pools = PoolArguments(project, display_name, worker_pools, uris, staging_bucket)
    content = read_config(Path(config), "ai custom-jobs create") if config else {}
    options["kms_key_name"] = kms_key_name(options, project)
    at_interrupt("Interrupted; no job was created.")
    draft = CustomJobDraft(project, region, display_name, content, options, pools)
    created = submit(session, submitting, draft)
    click.echo(render(created.resource, submitting.layout, CUSTOM.columns))


@click.command("machine-types")
@accelerator_option
@list_options
@with_session
def machine_types(session: Session, listing: Listing, accelerator: str | None) -> None:
    """List machine types of worker pools, and how many of which accelerators they take.

    A count with + is included: the type has them without being asked. The legacy names of
    AI Platform aren't shown; `footplate catalogue machine-types` has them.

    \b
    Examples:
      footplate ai custom-jobs machine-types
      footplate ai custom-jobs machine-types --accelerator=nvidia-l4
    """
    list_machine_types(session, listing, accelerator, ("COMPUTE_ENGINE", "TPU"))


command = Group(
    "custom-jobs",
    (
        Entry("create", create, "Create a custom job."),
        Entry(
            "local-run", "jobs.local_run", "Run code on this machine now, as a custom job would."
        ),
        entry(CUSTOM, "describe"),
        entry(CUSTOM, "list"),
        entry(CUSTOM, "stream-logs"),
        entry(CUSTOM, "events"),
        entry(CUSTOM, "stacks"),
        entry(CUSTOM, "usage"),
        entry(CUSTOM, "ssh"),
        entry(CUSTOM, "cancel"),
        entry(CUSTOM, "delete"),
        Entry("machine-types", machine_types, "List machine types of worker pools."),
    ),
    help="Create and follow custom jobs.",
)
