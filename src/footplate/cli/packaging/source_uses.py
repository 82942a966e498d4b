"""Finds what local code uses of TensorFlow, without a build."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from footplate.cli.packaging.archive import find_files
from footplate.domain.preview.source_patterns import find_patterns
from footplate.server.package_sources import PackageSources

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from footplate.cli.packaging.archive import Archive
    from footplate.domain.preview.source_patterns import Use


def find_uses(
    root: Path, folders: Iterable[Path], archives: Iterable[Archive], requirements: Iterable[str]
) -> tuple[Use, ...]:
    """Returns how packages use TensorFlow.

    ``folders`` lie below ``root``, which may contain a setup.py or a requirements.txt.
    """
    sources = PackageSources()
    sources.texts["PKG-INFO"] = "\n".join(requirements)
    sources.read_files(root, (path for path in root.glob("*.*") if path.is_file()))
    for folder in folders:
        sources.read_files(root, find_files(folder))
    for archive in archives:
        sources.read_archive(BytesIO(archive.content))
    return find_patterns(sources.texts)
