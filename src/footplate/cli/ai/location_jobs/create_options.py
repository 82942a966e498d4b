"""gcloud's options that every kind of new job has."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.job_submission import submitting_options
from footplate.cli.kms_key import kms_options
from footplate.cli.option_values import DictValue
from footplate.cli.session_options import region_option

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def create_options(function: Callable[P, R]) -> Callable[P, R]:
    for option in (
        region_option(),
        submitting_options,
        kms_options,
        click.option("--enable-dashboard-access", is_flag=True, help="Kept, of no effect here."),
        click.option(
            "--enable-web-access", is_flag=True, help="Let yourself open shells in its replicas."
        ),
        click.option("--network", metavar="NETWORK", help="Kept, of no effect here."),
        click.option("--service-account", metavar="EMAIL", help="Kept, of no effect here."),
        click.option(
            "--labels", type=DictValue(), metavar="KEY=VALUE,...", help="Labels of the job."
        ),
    ):
        function = option(function)
    return function


display_name_option = click.option(
    "--display-name", required=True, metavar="NAME", help="Name to show; need not be unique."
)
