"""``footplate ai custom-jobs local-run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.ai.custom_jobs.local_run_options import local_run_options
from footplate.cli.option_values import UserArgsCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROJECT, _REGION = "local", "us-central1"
_STAGE = "footplate-local-run"
"""The private service's bucket for packages."""


@click.command("local-run", cls=UserArgsCommand)
@local_run_options
def command(
    *,
    executor_image_uri: str,
    local_package_path: str,
    script: str | None,
    python_module: str | None,
    requirements: list[str],
    extra_packages: list[str],
    extra_dirs: list[str],
    gpu: bool,
    service_account_key_file: str | None,
    output_image_uri: str | None,
    user_args: Sequence[str] | None,
) -> None:
    """Run code of a folder here and now, as the custom job that it would be, to its end.

    It runs in the runtime that the prebuilt image of Vertex AI names, in a service that this
    command starts and ends; `footplate up` need not run. gcloud builds a container for it, with
    the same code in it: the folder of the script or module, and those of --extra-dirs. A
    requirements.txt, setup.py or pyproject.toml in the folder is heeded.

    What the program writes into its working directory is removed with it: let it write to a
    folder of yours, by its absolute path.

    Ends with 0 if the program succeeded, and with 1 if it failed. Ctrl-C cancels it and waits for
    its end; nothing goes on.

    \b
    Examples:
      footplate ai custom-jobs local-run --script=train.py --requirements=pandas,tqdm \\
          --executor-image-uri=us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest

    \b
      footplate ai custom-jobs local-run --local-package-path=code --python-module=trainer.task \\
          --executor-image-uri=us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest \\
          -- --epochs=3
    """
    # Imported here: help texts need neither the packager nor a client.
    from footplate.cli.ai.custom_jobs.local_run_request import local_run_job
    from footplate.cli.ai_platform.local.following import follow
    from footplate.cli.ai_platform.local.private_service import private_service
    from footplate.cli.ai_platform.local.runtime import require_image
    from footplate.cli.packaging.local_code import LocalCode, package_local_code
    from footplate.cli.packaging.staging import check_names, stage
    from footplate.domain.names import GcsUri

    if (script is None) == (python_module is None):
        raise click.UsageError("give either --script or --python-module")
    if output_image_uri is not None:
        raise click.UsageError(
            "--output-image-uri: no image is built, since programs don't run in containers here "
            "yet; leave it out"
        )
    require_image(executor_image_uri)
    code = LocalCode(
        root=Path(local_package_path),
        python_module=python_module,
        script=script,
        requirements=tuple(requirements),
        extra_packages=tuple(extra_packages),
        extra_dirs=tuple(extra_dirs),
        option="--",
    )
    archives = package_local_code(code)
    check_names(archives)
    with private_service(1, gpus=gpu) as connect:
        with connect() as service:
            service.storage.create_bucket(_PROJECT, _STAGE)
            uris = stage(service.storage, GcsUri(_STAGE, ""), archives)
            request = local_run_job(
                executor_image_uri, uris, user_args or (), service_account_key_file, gpu=gpu
            )
            name = service.custom_jobs.create(_PROJECT, _REGION, request).name
        job, interrupted = follow(connect, name, named=False)
    job_commands.conclude(job, interrupted=interrupted)
