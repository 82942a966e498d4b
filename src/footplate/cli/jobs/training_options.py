"""gcloud's options for a training job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.option_values import DictValue, ListValue, RepeatableOption, gathered, offered

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

TIERS = ("basic", "basic-gpu", "basic-tpu", "standard-1", "premium-1", "custom")


class TierValue(click.Choice[str]):
    """A parameter that is a tier in the spelling of gcloud or of the API, such as ``BASIC_GPU``."""

    def __init__(self) -> None:
        super().__init__(TIERS, case_sensitive=False)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        return super().convert(str(value).replace("_", "-"), param, ctx)


_ACCELERATOR = DictValue(("type", "count"))


@dataclass(frozen=True)
class PackageOptions:
    """The options on packages."""

    package_path: str | None
    packages: list[str]
    staging_bucket: str | None


def program_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options for the program and its files; passes PackageOptions as ``packages``."""
    function = gathered("packages", PackageOptions)(function)
    for option in (
        click.option(
            "--python-version",
            metavar="VERSION",
            help="Python version of the runtime, such as 3.7.",
        ),
        click.option(
            "--runtime-version",
            metavar="VERSION",
            shell_complete=offered("runtime_versions"),
            help="AI Platform runtime, such as 2.21 or 1.15; the default is the newest.",
        ),
        click.option(
            "--staging-bucket",
            metavar="gs://BUCKET",
            shell_complete=offered("places"),
            help="Where the command uploads packages; the default is JOB_DIR/packages.",
        ),
        click.option(
            "--job-dir",
            metavar="gs://BUCKET/PATH",
            shell_complete=offered("places"),
            help="Directory for the job's files; the program gets the path as --job-dir.",
        ),
        click.option(
            "--packages",
            cls=RepeatableOption,
            type=ListValue(),
            default=[],
            metavar="FILE,...",
            help="Built packages (.tar.gz, .whl): files, or gs:// URIs.",
        ),
        click.option(
            "--package-path",
            type=click.Path(),
            metavar="DIR",
            help=(
                "Folder with a Python package. The command builds the package with the setup.py "
                "or pyproject.toml beside the folder, or writes a setup.py if neither exists."
            ),
        ),
        click.option(
            "--module-name", metavar="MODULE", help="Module to run, such as trainer.task."
        ),
        click.option(
            "--config",
            type=click.Path(),
            metavar="FILE",
            help="YAML file with a Job of the API; options override the file.",
        ),
    ):
        function = option(function)
    return function


def cluster_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options for the job's machines."""
    for role, text in (
        ("parameter-server", "parameter servers"),
        ("worker", "workers"),
        ("master", "the master"),
    ):
        names = [f"--{role}-count"] + (["--worker-server-count"] if role == "worker" else [])
        options = [
            click.option(f"--{role}-image-uri", metavar="IMAGE", help=f"Container of {text}."),
            click.option(
                f"--{role}-accelerator",
                type=_ACCELERATOR,
                metavar="type=TYPE,count=N",
                help=f"Accelerators of {text}, such as type=nvidia-tesla-t4,count=1.",
            ),
            click.option(
                f"--{role}-machine-type",
                metavar="TYPE",
                shell_complete=offered("machine_types"),
                help=f"Machine of {text}.",
            ),
        ]
        if role != "master":
            number = click.IntRange(min=0)
            options.append(click.option(*names, type=number, metavar="N", help=f"How many {text}."))
        for option in options:
            function = option(function)
    return click.option("--scale-tier", type=TierValue(), help="Number and kind of machines.")(
        function
    )


def tf_config_options(function: Callable[P, R]) -> Callable[P, R]:
    for option in (
        click.option(
            "--tpu-tf-version", metavar="VERSION", help="TensorFlow version of TPU workers."
        ),
        click.option(
            "--use-chief-in-tf-config",
            type=click.BOOL,
            metavar="BOOL",
            help="Call the master `chief` in TF_CONFIG (containers only).",
        ),
    ):
        function = option(function)
    return function
