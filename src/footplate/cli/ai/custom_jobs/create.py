"""``footplate ai custom-jobs create``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.ai.custom_jobs.kind import KIND
from footplate.cli.ai.custom_jobs.worker_pools import KEYS, check_pools, make_pool
from footplate.cli.ai.located.create_options import create_options, display_name_option
from footplate.cli.dry_run import finish
from footplate.cli.interruption import at_interrupt
from footplate.cli.kms_key import kms_key_name
from footplate.cli.offering import offered
from footplate.cli.option_values import DictValue, ListValue
from footplate.cli.session import Session, with_session
from footplate.cli.show import render
from footplate.cli.stream_options import check_following
from footplate.domain.errors import AlreadyExists
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from footplate.cli.formats.layout import Layout
    from footplate.client.service import Service
    from footplate.client.validation import Uploads
    from footplate.wire.json_text import JsonObject


@click.command("create")
@display_name_option
@click.option(
    "--worker-pool-spec",
    "pools",
    type=DictValue(KEYS),
    multiple=True,
    metavar="KEY=VALUE,...",
    help="A worker pool; the first one is the primary replica's. Repeat it for more.",
)
@click.option(
    "--config",
    type=click.Path(),
    metavar="FILE",
    help="YAML file with a CustomJobSpec; options win over it.",
)
@click.option("--args", type=ListValue(), metavar="ARG,...", help="Arguments of the programs.")
@click.option(
    "--command",
    type=ListValue(),
    metavar="WORD,...",
    help="Command of the containers, in place of the image's.",
)
@click.option(
    "--python-package-uris",
    type=ListValue(),
    default=[],
    metavar="gs://...,...",
    help="Packages for all pools with an executor image.",
)
@click.option(
    "--staging-bucket",
    metavar="gs://BUCKET",
    shell_complete=offered("places"),
    help="Where local code is uploaded; else gs://PROJECT-footplate-staging, made at need.",
)
@click.option("--persistent-resource-id", metavar="ID", help="Kept, of no effect here.")
@create_options
@with_session
def command(
    session: Session,
    /,
    region: str,
    layout: Layout,
    display_name: str,
    pools: tuple[dict[str, str], ...],
    config: str | None,
    python_package_uris: list[str],
    staging_bucket: str | None,
    *,
    dry_run: bool,
    stream_logs: bool,
    detach: bool,
    **options: object,
) -> None:
    """Create a custom job, which starts as soon as there is room for it.

    A worker pool wants machine-type, and one of these sets of keys:

    \b
      container-image-uri                       a container of yours (not yet)
      executor-image-uri, python-module         packages in buckets (--python-package-uris)
      executor-image-uri, local-package-path,   code in a folder here, with requirements,
        and script or python-module             extra-packages, extra-dirs (parted by ;)

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
    check_following(follow=stream_logs, detach=detach)
    if not pools and config is None:
        raise click.UsageError("--worker-pool-spec or --config is needed")
    if pools:
        check_pools(pools)
    # Imported here: help texts need no YAML.
    from footplate.cli.ai.custom_jobs.request import make_job
    from footplate.cli.config_file import read_config

    content = read_config(Path(config)) if config else {}
    options["kms_key_name"] = kms_key_name(options, session.project)
    at_interrupt("Interrupted; no job was created.")
    with session.connect() as service:
        service.health()
        if dry_run:
            specs, uploads = _foretold(
                session.project, display_name, pools, python_package_uris, staging_bucket
            )
            request = make_job(display_name, content, options, specs)
            checked = service.validations.custom_job(session.project, region, request, uploads)
            finish(checked, layout)
        specs = _specs(service, session, display_name, pools, python_package_uris, staging_bucket)
        request = make_job(display_name, content, options, specs)
        created = service.custom_jobs.create(session.project, region, request)
    job_commands.go_on(session, created.name, tuning=False, follow=stream_logs, detach=detach)
    click.echo(render(created.resource, layout, KIND.columns))


def _specs(
    service: Service,
    session: Session,
    display_name: str,
    pools: tuple[dict[str, str], ...],
    package_uris: list[str],
    staging_bucket: str | None,
) -> list[JsonObject]:
    if not _is_local(pools, package_uris):
        return [make_pool(pool, package_uris) for pool in pools]
    # Imported here: help texts need no packager.
    from footplate.cli.packaging.local_code import MODULE, package_local_code, read_local_code
    from footplate.cli.packaging.staging import check_names, stage

    archives = package_local_code(read_local_code(pools[0]))
    check_names(archives)
    bucket = staging_bucket or _default_bucket(service, session.project)
    uris = stage(service.storage, _location(display_name, bucket), archives)
    image = pools[0]["executor-image-uri"]
    return [make_pool(pool, uris, MODULE, image) for pool in pools]


def _foretold(
    project: str,
    display_name: str,
    pools: tuple[dict[str, str], ...],
    package_uris: list[str],
    staging_bucket: str | None,
) -> tuple[list[JsonObject], Uploads | None]:
    """The specs as far as they are known before anything is built, and what is missing yet."""
    if not _is_local(pools, package_uris):
        return [make_pool(pool, package_uris) for pool in pools], None
    from footplate.cli.packaging.local_code import (
        MODULE,
        PACKAGE,
        check_local_code,
        read_local_code,
    )
    from footplate.client.validation import Uploads

    check_local_code(read_local_code(pools[0]))
    bucket = staging_bucket or _default_bucket_name(project)
    location = _location(display_name, bucket)
    uri = f"{location}/{PACKAGE}.tar.gz"
    click.secho(f"Not built and uploaded now: {uri}", err=True, dim=True)
    image = pools[0]["executor-image-uri"]
    specs = [make_pool(pool, [uri], MODULE, image) for pool in pools]
    prefix = GcsUri(location.bucket, f"{location.path}/")
    return specs, Uploads(prefix, makes_bucket=staging_bucket is None)


def _is_local(pools: tuple[dict[str, str], ...], package_uris: list[str]) -> bool:
    """Whether the pools run code of this machine."""
    if not pools or "local-package-path" not in pools[0]:
        return False
    if package_uris:
        raise click.UsageError("--python-package-uris doesn't go with local-package-path")
    if "output-image-uri" in pools[0]:
        click.secho("Note: no image is built; output-image-uri is left out.", err=True, fg="yellow")
    return True


def _location(display_name: str, bucket: str) -> GcsUri:
    from footplate.cli.packaging.staging import staging_location

    return staging_location(display_name, bucket, None) or GcsUri(bucket, "")


def _default_bucket_name(project: str) -> str:
    return f"{project.lower().replace(':', '-').replace('.', '-')}-footplate-staging"


def _default_bucket(service: Service, project: str) -> str:
    name = _default_bucket_name(project)
    try:
        service.storage.create_bucket(project, name)
    except AlreadyExists:
        return name
    click.secho(f"Created gs://{name}/ for packages.", err=True, dim=True)
    return name
