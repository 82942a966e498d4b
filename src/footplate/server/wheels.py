"""Builds wheels of the installed packages, in memory.

The same files make the same bytes. Source: the binary distribution format (PEP 427).
"""

from __future__ import annotations

import base64
import hashlib
import io
import logging
import platform
import sysconfig
from importlib import metadata, util
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from footplate.control.wheels import Wheel

_LIBRARIES = frozenset({".so", ".dylib"})
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that archives know: the same files make the same bytes."""
_ALGORITHMS = "footplate_algorithms"
_REDUCTION = "footplate_reduction"
_SERVICE = "footplate"
_BUNDLED = Path(__file__).parent
"""Where the build of the service puts the wheels of footplate-reduction."""
_log = logging.getLogger(__name__)


def algorithms_wheel() -> Wheel:
    """Returns the programs of the built-in algorithms, which are installed with the service."""
    version = metadata.version(_SERVICE)
    described = f"Metadata-Version: 2.1\nName: footplate-algorithms\nVersion: {version}\n"
    package = package_directory(_ALGORITHMS)
    if package is None:
        raise ModuleNotFoundError(
            f"the package {_ALGORITHMS} of {_SERVICE} is missing: install {_SERVICE} again"
        )
    return make_wheel(package, version, described)


def reduction_wheel(bundled: Path = _BUNDLED) -> Wheel | None:
    """Returns the package of workers and reduction servers; None if it isn't available.

    It comes with the service, for each of some kinds of machines, or is installed beside it with
    its C++ library.
    """
    for path in sorted(bundled.glob(f"{_REDUCTION}-*_{platform.machine()}.whl")):
        return Wheel(path.name, path.read_bytes())
    package = package_directory(_REDUCTION)
    if package is None or not package.joinpath("native", "core.so").exists():
        return None
    try:
        installed = metadata.distribution(_REDUCTION)
        described = installed.read_text("METADATA") or ""
        entry_points = installed.read_text("entry_points.txt") or ""
        return make_wheel(package, installed.version, described, entry_points)
    except (metadata.PackageNotFoundError, OSError) as error:
        _log.warning("the server can't give the package %s to jobs: %s", _REDUCTION, error)
        return None


def package_directory(name: str) -> Path | None:
    """Returns the package's folder; None if it isn't installed."""
    spec = util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def make_wheel(package: Path, version: str, described: str, entry_points: str = "") -> Wheel:
    """Returns a wheel of the package; ``described`` is its METADATA."""
    name = package.name
    files = {
        f"{name}/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    native = any(Path(member).suffix in _LIBRARIES for member in files)
    tag = f"py3-none-{_platform()}" if native else "py3-none-any"
    info = f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = described.encode()
    files[f"{info}/WHEEL"] = _describe(tag, pure=not native).encode()
    files[f"{info}/entry_points.txt"] = entry_points.encode()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    return Wheel(f"{name}-{version}-{tag}.whl", _pack(files))


def _platform() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _describe(tag: str, *, pure: bool) -> str:
    return (
        "Wheel-Version: 1.0\nGenerator: footplate\n"
        f"Root-Is-Purelib: {'true' if pure else 'false'}\nTag: {tag}\n"
    )


def _record(files: dict[str, bytes], own: str) -> str:
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join((*lines, f"{own},,\n"))


def _pack(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, content)
    return made.getvalue()
