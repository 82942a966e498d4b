"""The check whether the packages of a job can be installed where it would run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PackageCheck:
    """One package of the replicas with ``roles``, resolved together with their other packages.

    ``added``: what they all would install beside the runtime. ``error``: why the preparation of
    these replicas would fail; empty: it wouldn't.
    """

    package: str
    roles: tuple[str, ...]
    runtime: str
    added: tuple[str, ...] = ()
    error: str = ""


def assign_errors(
    packages: tuple[str, ...], roles: tuple[str, ...], runtime: str, error: str
) -> tuple[PackageCheck, ...]:
    """The error at the packages that it names; at all of them where it names none."""
    named = [uri for uri in packages if uri.rpartition("/")[2] in error]
    return tuple(
        PackageCheck(uri, roles, runtime, error=error if uri in (named or packages) else "")
        for uri in packages
    )
