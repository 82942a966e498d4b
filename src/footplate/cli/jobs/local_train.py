"""``footplate ai-platform local``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.group import Entry, Group
from footplate.cli.local_runs.options import LocalTrain
from footplate.cli.option_values import UserArgsCommand, gathered, offered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
R = TypeVar("R")

_COUNT = click.IntRange(min=0)


def _options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options; passes them as one LocalTrain, ``run``."""
    return _cluster_options(_program_options(gathered("run", LocalTrain)(function)))


def _program_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options for the program, its software, and the places of its files."""
    for option in (
        click.option(
            "--python-version",
            metavar="VERSION",
            help="Python version of the runtime, such as 3.7. gcloud has no such option.",
        ),
        click.option(
            "--runtime-version",
            metavar="VERSION",
            shell_complete=offered("runtime_versions"),
            help=(
                "AI Platform runtime, such as 2.21 or 1.15; the default is the newest. gcloud "
                "has no such option, and uses this machine's Python."
            ),
        ),
        click.option(
            "--job-dir",
            type=click.Path(),
            metavar="DIR",
            help=(
                "Folder for the program's files; the program gets its path as --job-dir. Files "
                "in gs://BUCKET/PATH are removed after the run."
            ),
        ),
        click.option(
            "--package-path",
            type=click.Path(file_okay=False),
            default=".",
            metavar="DIR",
            help="Folder with the Python package; the default is the current one.",
        ),
        click.option(
            "--module-name",
            required=True,
            metavar="MODULE",
            help="Module to run, such as trainer.task.",
        ),
    ):
        function = option(function)
    return function


def _cluster_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options for the number of replicas."""
    for option in (
        click.option(
            "--start-port",
            type=click.IntRange(1, 65535),
            metavar="PORT",
            expose_value=False,
            help="Accepted because gcloud has it, but without effect: replicas get free ports.",
        ),
        _count("evaluator", "Evaluators", 0),
        _count("parameter-server", "Parameter servers", 2),
        _count("worker", "Workers", 2),
        click.option("--distributed", is_flag=True, help="Run a cluster of several replicas."),
    ):
        function = option(function)
    return function


def _count(role: str, many: str, default: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        f"--{role}-count",
        type=_COUNT,
        metavar="N",
        help=f"{many}, with --distributed.  [default: {default}]",
    )


@click.command("train", cls=UserArgsCommand)
@_options
def train(run: LocalTrain, user_args: Sequence[str] | None) -> None:
    """Run a trainer here and now, as the job that it would be, and follow it to its end.

    The folder given by --package-path is packaged and installed into a runtime as by `jobs
    submit training`, in a service that this command starts and ends; `footplate up` need not run.
    The program starts in the folder around the package, so that relative paths after the bare --
    mean files there. It gets no GPU.

    With --distributed there are a master, workers and parameter servers, all on this machine. They
    start together, and TF_CONFIG names the others to each. Lines begin with the replica's name.

    What is written to a gs:// job directory is removed with the service: to keep it, give a folder.

    The exit code is 0 if the job succeeded, else 1. Ctrl-C cancels the job and waits for
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
    from footplate.cli.jobs.local_train_job import train_here

    train_here(run, user_args)


command = Group(
    "local",
    (Entry("train", train, "Run a trainer now, without a service of your own."),),
    help="Run a trainer on this machine now.",
)
