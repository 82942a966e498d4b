"""``footplate ai custom-jobs local-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.local_runs.options import LocalRun
from footplate.cli.option_values import ListValue, RepeatableOption, UserArgsCommand, gathered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
R = TypeVar("R")


def _options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options; passes them as one LocalRun, ``run``."""
    function = gathered("run", LocalRun)(function)
    for option in (
        click.option("--region", hidden=True, expose_value=False),
        click.option(
            "--output-image-uri",
            metavar="IMAGE",
            help="Build this image with the container engine, from --executor-image-uri, and run "
            "the image.",
        ),
        click.option(
            "--service-account-key-file",
            type=click.Path(exists=True, dir_okay=False, resolve_path=True),
            metavar="FILE",
            help="Credentials for Google's own services; the program gets the file in "
            "GOOGLE_APPLICATION_CREDENTIALS.",
        ),
        click.option(
            "--gpu",
            is_flag=True,
            help="Let the program use a GPU of this machine, if there is one.",
        ),
        _several(
            "--extra-dirs", "DIR", "More folders in --local-package-path that the program needs."
        ),
        _several(
            "--extra-packages", "FILE", "Built packages (.tar.gz, .whl) in --local-package-path."
        ),
        _several("--requirements", "REQUIREMENT", "Packages to install, such as pandas,tqdm>=4."),
        click.option(
            "--python-module", metavar="MODULE", help="Module in --local-package-path to run."
        ),
        click.option(
            "--script",
            metavar="FILE",
            help="Path of the Python or bash file in --local-package-path to run.",
        ),
        click.option(
            "--local-package-path",
            "--work-dir",
            type=click.Path(file_okay=False),
            default=".",
            metavar="DIR",
            help="Folder with the code; the default is the current one.",
        ),
        click.option(
            "--executor-image-uri",
            "--base-image",
            required=True,
            metavar="IMAGE",
            help=(
                "Prebuilt image of Vertex AI, which selects the runtime; with --output-image-uri "
                "any image, as the base of the new image."
            ),
        ),
    ):
        function = option(function)
    return function


def _several(name: str, thing: str, text: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        name, cls=RepeatableOption, type=ListValue(), default=[], metavar=f"{thing},...", help=text
    )


@click.command("local-run", cls=UserArgsCommand)
@_options
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

    The exit code is 0 if the program succeeded, and 1 if it failed. Ctrl-C cancels it and waits for
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
    from footplate.cli.jobs.local_run_job import run_here

    run_here(run, user_args or ())
