"""Estimates the download size of an installation."""

from __future__ import annotations

import os
import re

from footplate.replica.environment.installed_distributions import normalize
from footplate.replica.environment.uv import UvFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Mapping, Sequence

    from footplate.replica.environment.uv import Uv

LIMIT_BYTES = 1_000_000_000
"""More than this is downloaded only for what a package pins."""
_NAMED = 3
_NAME = re.compile(r'^name = "([^"]+)"$', re.MULTILINE)
_WHEELS = re.compile(r"^wheels = \[(.*?)\]$", re.MULTILINE | re.DOTALL)
_SIZE = re.compile(r"\bsize = (\d+)")


def measure_downloads(
    requirements: Sequence[str], python: str, directory: str, uv: Uv, variables: Mapping[str, str]
) -> dict[str, int]:
    """Bytes by name of those pinned requirements whose index says it."""
    source = os.path.join(directory, "downloads.in")
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join(f"{requirement}\n" for requirement in requirements))
    target = os.path.join(uv.find_output(directory), "pylock.downloads.toml")
    options = ["--quiet", "--no-deps", "--python", python, "--format", "pylock.toml"]
    try:
        command = ["pip", "compile", *options, "--output-file", target, source]
        uv.isolated.run(command, variables)
        with open(target, encoding="utf-8") as file:
            return read_sizes(file.read())
    except (UvFailed, OSError):
        return {}  # what is told of it would be nice to have; the installation itself says more


def read_sizes(text: str) -> dict[str, int]:
    """The size of each package of a ``pylock.toml``: of its largest wheel, else of its source."""
    sizes = {}
    for block in text.split("[[packages]]")[1:]:
        name = _NAME.search(block)
        wheels = _WHEELS.search(block)
        found = _SIZE.findall(wheels.group(1) if wheels is not None else block)
        if name is not None and found:
            sizes[normalize(name.group(1))] = max(map(int, found))
    return sizes


def describe_sizes(sizes: Mapping[str, int]) -> str:
    """``3.1 GB (torch 0.9 GB, nvidia-cudnn-cu13 0.7 GB and 20 others)``."""
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:_NAMED]
    named = [f"{name} {_gigabytes(sizes[name])}" for name in largest]
    rest = len(sizes) - len(named)
    more = f" and {rest} other{'s' if rest > 1 else ''}" if rest else ""
    return f"{_gigabytes(sum(sizes.values()))} ({', '.join(named)}{more})"


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
