"""Finds the directory that a job writes to, and the one that its directories lie in. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from footplate.domain.jobs import JobSpec

LEAVES = ("", "/", "/model/")
"""What a stored directory may have behind the output directory: ``jobDir`` is kept as it was given,
and of ``baseOutputDirectory`` the places below it."""


def output_directory(spec: JobSpec) -> str:
    """Returns ``jobDir`` or ``baseOutputDirectory``, with no slash at its end; empty: neither."""
    if not spec.directories:
        return ""
    first = spec.directories[0]
    return first.uri.removesuffix(first.leaf).rstrip("/")


def common_directory(uris: Iterable[str]) -> str:
    """Returns the deepest directory that holds all URIs; empty: there is none.

    Of ``gs://b/run/model/`` and ``gs://b/run/logs/`` it is ``gs://b/run``.
    """
    found: list[str] | None = None
    for uri in uris:
        parts = uri.rstrip("/").split("/")
        if found is None:
            found = parts
        same = [one == other for one, other in zip(found, parts, strict=False)]
        found = found[: same.index(False) if False in same else len(same)]
    return "/".join(found or ())
