"""gcloud's options for the program of a custom job."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.ai.custom_jobs.worker_pools import KEYS
from footplate.cli.option_values import DictValue, ListValue
from footplate.cli.parameter_completion import offered

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def program_options(function: Callable[P, R]) -> Callable[P, R]:
    for option in (
        click.option("--persistent-resource-id", metavar="ID", help="Kept, of no effect here."),
        click.option(
            "--staging-bucket",
            metavar="gs://BUCKET",
            shell_complete=offered("places"),
            help="Where local code is uploaded; else gs://PROJECT-footplate-staging, made at need.",
        ),
        click.option(
            "--python-package-uris",
            type=ListValue(),
            default=[],
            metavar="gs://...,...",
            help="Packages for all pools with an executor image.",
        ),
        click.option(
            "--command",
            type=ListValue(),
            metavar="WORD,...",
            help="Command of the containers, in place of the image's.",
        ),
        click.option(
            "--args", type=ListValue(), metavar="ARG,...", help="Arguments of the programs."
        ),
        click.option(
            "--config",
            type=click.Path(),
            metavar="FILE",
            help="YAML file with a CustomJobSpec; options win over it.",
        ),
        click.option(
            "--worker-pool-spec",
            "worker_pools",
            type=DictValue(KEYS),
            multiple=True,
            metavar="KEY=VALUE,...",
            help="A worker pool; the first one is the primary replica's. Repeat it for more.",
        ),
    ):
        function = option(function)
    return function
