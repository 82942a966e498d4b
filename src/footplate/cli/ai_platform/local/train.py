"""``footplate ai-platform local train``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai_platform.local.options import local_train_options
from footplate.cli.option_values import UserArgsCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.ai_platform.local.options import LocalTrain


@click.command("train", cls=UserArgsCommand)
@local_train_options
def command(run: LocalTrain, user_args: Sequence[str] | None) -> None:
    """Run a trainer here and now, as the job that it would be, and follow it to its end.

    The folder given by --package-path is packaged and installed into a runtime as by `jobs
    submit training`, in a service that this command starts and ends; `footplate up` need not run.
    The program starts in the folder around the package, so that relative paths after the bare --
    mean files there. It gets no GPU.

    With --distributed there are a master, workers and parameter servers, all on this machine. They
    start together, and TF_CONFIG names the others to each. Lines begin with the replica's name.

    What is written to a gs:// job directory is removed with the service: to keep it, give a folder.

    Ends with 0 if the job succeeded, and with 1 if it failed. Ctrl-C cancels the job and waits for
    its end; nothing keeps running.

    \b
    Examples:
      footplate ai-platform local train --package-path trainer/ \\
          --module-name trainer.task --job-dir output -- --epochs 3

    \b
      footplate ai-platform local train --package-path trainer/ \\
          --module-name trainer.task --distributed \\
          --worker-count 2 --parameter-server-count 1
    """
    # Imported here: help texts need neither the packager nor a client.
    from footplate.cli.ai_platform.local.training import train_here

    train_here(run, user_args)
