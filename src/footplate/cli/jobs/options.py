"""gcloud's options that commands which make a job share, and what they put into a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.option_values import DictValue, RepeatableOption, gathered, offered
from footplate.cli.output_format import format_option
from footplate.cli.session import region_option
from footplate.domain.errors import InvalidArgument
from footplate.wire.learn_from_label import LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.cli.output_format import Layout
    from footplate.wire.json_text import JsonObject

P = ParamSpec("P")
R = TypeVar("R")

LOCAL_KEYS = ("script", "requirements", "extra-packages", "extra-dirs", "output-image-uri")

POOL_KEYS = (
    "machine-type",
    "replica-count",
    "accelerator-type",
    "accelerator-count",
    "container-image-uri",
    "executor-image-uri",
    "python-module",
    "local-package-path",
    *LOCAL_KEYS,
    "boot-disk-type",
    "boot-disk-size",
)
"""Of --worker-pool-spec."""

_FIELDS = {
    "network": "network",
    "service_account": "serviceAccount",
    "persistent_resource_id": "persistentResourceId",
}
_SWITCHES = {
    "enable_web_access": "enableWebAccess",
    "enable_dashboard_access": "enableDashboardAccess",
}


@dataclass(frozen=True)
class SubmissionOptions:
    """The options for submitting a job, and for what follows."""

    layout: Layout
    stream_logs: bool
    detach: bool
    dry_run: bool
    check_packages: bool

    def __post_init__(self) -> None:
        if self.check_packages and not self.dry_run:
            raise click.UsageError("--check-packages needs --dry-run")
        if self.stream_logs and self.detach:
            raise click.UsageError("--async and --stream-logs exclude each other")


def submitting_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options for submitting a job, and --format; passes them as ``submitting``."""
    function = format_option("yaml")(gathered("submitting", SubmissionOptions)(function))
    for option in (
        click.option(
            "--check-packages",
            is_flag=True,
            help=(
                "With --dry-run: build the packages and resolve their requirements as the job "
                "would, but install nothing. The exit code is 1 if the packages can't be "
                "installed. Builds the runtime's environment if the server lacks it."
            ),
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            help=(
                "Create nothing: print what is wrong with the job, or where its replicas would "
                "run. The exit code is 1 if the service would refuse the job. --format=json "
                "prints everything."
            ),
        ),
        click.option("--async", "detach", is_flag=True, help="Don't follow the job (the default)."),
        click.option(
            "--stream-logs",
            is_flag=True,
            help="Follow the job to its end; the exit code is 0 only if the job succeeded.",
        ),
    ):
        function = option(function)
    return function


def account_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds the options that jobs of all kinds have beside those of their program."""
    for option in (
        click.option(
            "--enable-web-access", is_flag=True, help="Allow shells in the job's replicas."
        ),
        click.option(
            "--network",
            metavar="NETWORK",
            help="Footplate stores this value, but the value has no effect.",
        ),
        click.option(
            "--service-account",
            metavar="EMAIL",
            help="Ask for access to Footplate's API (setting api_access).",
        ),
        click.option(
            "--labels",
            cls=RepeatableOption,
            type=DictValue(),
            metavar="KEY=VALUE,...",
            help="Labels of the job.",
        ),
    ):
        function = option(function)
    return function


def create_options(function: Callable[P, R]) -> Callable[P, R]:
    for option in (
        region_option(),
        submitting_options,
        kms_options,
        click.option(
            "--enable-dashboard-access",
            is_flag=True,
            help="Footplate stores this value, but the value has no effect.",
        ),
        account_options,
    ):
        function = option(function)
    return function


display_name_option = click.option(
    "--display-name",
    required=True,
    metavar="NAME",
    help="Name to show; several jobs may have the same name.",
)


def put_run_options(spec: JsonObject, options: Mapping[str, object]) -> None:
    """Puts options into a CustomJobSpec; those not given (None, False) change nothing."""
    for name, field in _FIELDS.items():
        if (value := options.get(name)) is not None:
            spec[field] = str(value)
    for name, field in _SWITCHES.items():
        if options.get(name):
            spec[field] = True


def put_job_options(job: JsonObject, options: Mapping[str, object]) -> None:
    """Puts labels and the encryption key into the job."""
    if isinstance(labels := options.get("labels"), dict):
        job["labels"] = dict(labels)
    if (key := options.get("kms_key_name")) is not None:
        job["encryptionSpec"] = {"kmsKeyName": str(key)}


def kms_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds options for an encryption key, which the service stores and shows, but doesn't use."""
    for name, text in (
        ("kms-project", "Project of the key."),
        ("kms-location", "Location of the key."),
        ("kms-keyring", "Key ring of the key."),
        ("kms-key", "Encryption key: its name, or its whole resource name."),
    ):
        function = click.option(f"--{name}", metavar="NAME", help=text)(function)
    return function


def kms_key_name(options: Mapping[str, object], project: str) -> str | None:
    """Returns the full resource name of the key in ``options``; None without a key."""
    key, keyring, location, key_project = (
        str(options.get(f"kms_{part}") or "") for part in ("key", "keyring", "location", "project")
    )
    if not key:
        if keyring or location or key_project:
            raise click.UsageError("--kms-key is missing: the key is not fully specified")
        return None
    if key.startswith("projects/"):
        return key
    if not (keyring and location):
        raise click.UsageError("--kms-key requires --kms-keyring and --kms-location")
    place = f"projects/{key_project or project}/locations/{location}"
    return f"{place}/keyRings/{keyring}/cryptoKeys/{key}"


def learn_from_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--learn-from",
        metavar="ID",
        shell_complete=offered("searches"),
        help="Earlier tuning job, or study of Vizier, whose trials this search starts from. The "
        f"id becomes the label {LABEL} of the job.",
    )(function)


def copy_object(parent: JsonObject, key: str) -> JsonObject:
    """Replaces the object at ``key`` by a copy, or adds an empty one; returns it.

    Raises InvalidArgument: something else is there.
    """
    value = parent.get(key)
    if not isinstance(value, dict | None):
        raise InvalidArgument(f"--config: {key} is not a mapping")
    child: JsonObject = dict(value or {})
    parent[key] = child
    return child


def put_learn_from(job: JsonObject, earlier: object) -> None:
    """Adds the label that makes a search learn from an earlier one.

    ``earlier`` is an id or a full resource name; None changes nothing.
    """
    if earlier is None:
        return
    copy_object(job, "labels")[LABEL] = str(earlier).rpartition("/")[2]
