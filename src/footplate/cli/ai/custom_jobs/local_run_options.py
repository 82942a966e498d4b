"""gcloud's options for a local run of a custom job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.option_groups import gathered
from footplate.cli.option_values import ListValue

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class LocalRun:
    """What they say. Raises click.UsageError: not of one program."""

    executor_image_uri: str
    local_package_path: str
    script: str | None
    python_module: str | None
    requirements: list[str]
    extra_packages: list[str]
    extra_dirs: list[str]
    gpu: bool
    service_account_key_file: str | None
    """An absolute path."""
    output_image_uri: str | None

    def __post_init__(self) -> None:
        if (self.script is None) == (self.python_module is None):
            raise click.UsageError("give either --script or --python-module")
        if self.output_image_uri is not None and self.service_account_key_file is not None:
            raise click.UsageError(
                "--service-account-key-file doesn't go with --output-image-uri: the file isn't "
                "seen in the container"
            )


def local_run_options(function: Callable[P, R]) -> Callable[P, R]:
    """Handed over as one LocalRun, ``run``."""
    function = gathered("run", LocalRun)(function)
    for option in (
        click.option("--region", hidden=True, expose_value=False),
        click.option(
            "--output-image-uri",
            metavar="IMAGE",
            help="Build this image with the container engine, from --executor-image-uri, and run "
            "it.",
        ),
        click.option(
            "--service-account-key-file",
            type=click.Path(exists=True, dir_okay=False, resolve_path=True),
            metavar="FILE",
            help="Credentials for Google's own services: GOOGLE_APPLICATION_CREDENTIALS of the "
            "program.",
        ),
        click.option(
            "--gpu", is_flag=True, help="Let it use a GPU of this machine, if there is one."
        ),
        _several("--extra-dirs", "DIR", "More folders of it that the program needs."),
        _several("--extra-packages", "FILE", "Built packages (.tar.gz, .whl) in it."),
        _several("--requirements", "REQUIREMENT", "What to install, such as pandas,tqdm>=4."),
        click.option("--python-module", metavar="MODULE", help="Module in it to run."),
        click.option(
            "--script", metavar="FILE", help="Python or bash file in it to run, by its path."
        ),
        click.option(
            "--local-package-path",
            "--work-dir",
            type=click.Path(file_okay=False),
            default=".",
            metavar="DIR",
            help="Folder with the code; without it the current one.",
        ),
        click.option(
            "--executor-image-uri",
            "--base-image",
            required=True,
            metavar="IMAGE",
            help="Prebuilt image of Vertex AI, which names the runtime; with --output-image-uri "
            "any image, which the new one is built from.",
        ),
    ):
        function = option(function)
    return function


def _several(name: str, thing: str, text: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(name, type=ListValue(), default=[], metavar=f"{thing},...", help=text)
