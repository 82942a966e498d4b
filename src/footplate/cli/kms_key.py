"""gcloud's four options for an encryption key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

P = ParamSpec("P")
R = TypeVar("R")


def kms_options(function: Callable[P, R]) -> Callable[P, R]:
    """Kept and shown by the service, of no effect on this machine."""
    for name, text in (
        ("kms-project", "Project of the key."),
        ("kms-location", "Location of the key."),
        ("kms-keyring", "Key ring of the key."),
        ("kms-key", "Encryption key: its name, or its whole resource name."),
    ):
        function = click.option(f"--{name}", metavar="NAME", help=text)(function)
    return function


def kms_key_name(options: Mapping[str, object], project: str) -> str | None:
    """The whole resource name of the key that ``options`` give; None if they give none."""
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
