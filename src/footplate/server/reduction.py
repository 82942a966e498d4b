"""The wheel of footplate-reduction that workers and reduction servers install.

It comes with the service's own wheel. An editable installation of the service has none; there it
is made of what is installed beside the service. Its native core, where there is one, depends on
the platform alone. Source: the binary distribution format (PEP 427).
"""

from __future__ import annotations

import base64
import hashlib
import io
import logging
import sysconfig
from importlib import metadata, util
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from footplate.control.reduction import Wheel

_DISTRIBUTION = "footplate-reduction"
_PACKAGE = "footplate_reduction"
_BUNDLED = Path(__file__).parent
"""Where the build of the service puts the wheel."""
_LIBRARIES = frozenset({".so", ".dylib"})
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that archives know: the same files make the same bytes."""
_log = logging.getLogger(__name__)


def find_wheel(bundled: Path = _BUNDLED) -> Wheel | None:
    """None: it neither came with the service nor is installed beside it."""
    for path in sorted(bundled.glob(f"{_PACKAGE}-*.whl")):
        return Wheel(path.name, path.read_bytes())
    return _make_of_installed()


def _make_of_installed() -> Wheel | None:
    spec = util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    try:
        installed = metadata.distribution(_DISTRIBUTION)
        return _make(Path(spec.submodule_search_locations[0]), installed)
    except (metadata.PackageNotFoundError, OSError) as error:
        _log.warning("%s can't be given to jobs: %s", _DISTRIBUTION, error)
        return None


def _make(package: Path, installed: metadata.Distribution) -> Wheel:
    files = {
        f"{_PACKAGE}/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    native = any(Path(name).suffix in _LIBRARIES for name in files)
    tag = f"py3-none-{_platform()}" if native else "py3-none-any"
    info = f"{_PACKAGE}-{installed.version}.dist-info"
    files[f"{info}/METADATA"] = (installed.read_text("METADATA") or "").encode()
    files[f"{info}/WHEEL"] = _describe(tag, pure=not native).encode()
    files[f"{info}/entry_points.txt"] = (installed.read_text("entry_points.txt") or "").encode()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    return Wheel(f"{_PACKAGE}-{installed.version}-{tag}.whl", _pack(files))


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
