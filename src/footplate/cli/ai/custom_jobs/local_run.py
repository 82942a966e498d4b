"""``footplate ai custom-jobs local-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai.custom_jobs.local_run_options import local_run_options
from footplate.cli.option_values import UserArgsCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.ai.custom_jobs.local_run_options import LocalRun


@click.command("local-run", cls=UserArgsCommand)
@local_run_options
def command(run: LocalRun, user_args: Sequence[str] | None) -> None:
    """Run code of a folder here and now, as the custom job that it would be, to its end.

    It runs in the runtime that the prebuilt image of Vertex AI names, in a service that this
    command starts and ends; `footplate up` need not run. gcloud builds a container for it, with
    the same code in it: the folder of the script or module, and those of --extra-dirs. A
    requirements.txt, setup.py or pyproject.toml in the folder is heeded.

    With --output-image-uri it builds such a container: Docker or Podman makes the image from
    --executor-image-uri, any image with a Python, and runs it.

    What the program writes into its working directory is removed with it: let it write to a
    folder of yours, by its absolute path.

    Ends with 0 if the program succeeded, and with 1 if it failed. Ctrl-C cancels it and waits for
    its end; nothing keeps running.

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
    from footplate.cli.ai.custom_jobs.local_run_job import run_here

    run_here(run, user_args or ())
