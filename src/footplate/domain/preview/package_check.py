"""The check whether the packages of a job can be installed where it would run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PackageCheck:
    """The check of one package of the replicas with ``roles``, together with their other packages.

    ``added`` has the packages that would be installed in addition to the runtime's. ``error`` says
    why the preparation of these replicas would fail; empty: it wouldn't.
    """

    package: str
    roles: tuple[str, ...]
    runtime: str
    added: tuple[str, ...] = ()
    error: str = ""


def assign_errors(
    packages: tuple[str, ...], roles: tuple[str, ...], runtime: str, error: str
) -> tuple[PackageCheck, ...]:
    """Attaches an error to the packages that it names, or to all of them if it names none."""
    named = [uri for uri in packages if uri.rpartition("/")[2] in error]
    return tuple(
        PackageCheck(uri, roles, runtime, error=error if uri in (named or packages) else "")
        for uri in packages
    )
