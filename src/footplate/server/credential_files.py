"""Finds where the server's credentials for buckets and engines lie: programs must not see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from footplate.backends.region_bindings import RegionBinding
from footplate.buckets.bindings import BucketBinding

_FILES = {
    "s3": ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    "gs": ("GOOGLE_APPLICATION_CREDENTIALS",),
}
_DIRECTORIES = {"s3": ".aws", "gs": ".config/gcloud"}


def find_credential_files(
    bindings: Sequence[BucketBinding],
    environ: Mapping[str, str],
    regions: Sequence[RegionBinding] = (),
) -> tuple[list[Path], list[Path]]:
    """Returns the directories and single files that hold credentials.

    They belong to the kinds of stores that buckets are bound to, and to the engines of ``regions``.
    """
    kinds = sorted({binding.remote.kind for binding in bindings if binding.remote is not None})
    home = Path(environ.get("HOME") or "/")
    directories = [home / _DIRECTORIES[kind] for kind in kinds]
    if "gs" in kinds and environ.get("CLOUDSDK_CONFIG"):
        directories.append(Path(environ["CLOUDSDK_CONFIG"]))
    names = [name for kind in kinds for name in _FILES[kind]]
    files = [Path(environ[name]) for name in names if environ.get(name)]
    named = [path for region in regions for path in (region.kubeconfig, region.token_file)]
    return directories, [*files, *(Path(path) for path in named if path)]
