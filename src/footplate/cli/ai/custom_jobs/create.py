"""``footplate ai custom-jobs create``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.ai.custom_jobs.kind import KIND
from footplate.cli.ai.custom_jobs.options import program_options
from footplate.cli.ai.location_jobs.create_options import create_options, display_name_option
from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.kms_key import kms_key_name
from footplate.cli.output_format import render
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.job_submission import SubmissionOptions
    from footplate.cli.session import Session


@click.command("create")
@display_name_option
@program_options
@create_options
@with_session
def command(
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
    from footplate.cli.ai.custom_jobs.draft import CustomJobDraft
    from footplate.cli.ai.custom_jobs.pool_options import PoolArguments
    from footplate.cli.config_file import read_config

    project, uris = session.project, tuple(python_package_uris)
    pools = PoolArguments(project, display_name, worker_pools, uris, staging_bucket)
    content = read_config(Path(config), "ai custom-jobs create") if config else {}
    options["kms_key_name"] = kms_key_name(options, project)
    at_interrupt("Interrupted; no job was created.")
    draft = CustomJobDraft(project, region, display_name, content, options, pools)
    created = submitting.submit(session, draft)
    click.echo(render(created.resource, submitting.layout, KIND.columns))
