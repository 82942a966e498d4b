"""The wheel of footplate-reduction that workers and reduction servers install.

It comes with the service's own wheel. An editable installation of the service has none; there it
is made of what is installed beside the service. Its native core, where there is one, depends on
the platform alone.
"""

from __future__ import annotations

import logging
from importlib import metadata
from pathlib import Path

from footplate.control.wheels import Wheel
from footplate.server.wheels import make_wheel, package_directory

_DISTRIBUTION = "footplate-reduction"
_PACKAGE = "footplate_reduction"
_BUNDLED = Path(__file__).parent
"""Where the build of the service puts the wheel."""
_log = logging.getLogger(__name__)


def find_wheel(bundled: Path = _BUNDLED) -> Wheel | None:
    """None: it neither came with the service nor is installed beside it."""
    for path in sorted(bundled.glob(f"{_PACKAGE}-*.whl")):
        return Wheel(path.name, path.read_bytes())
    return _make_of_installed()


def _make_of_installed() -> Wheel | None:
    package = package_directory(_PACKAGE)
    if package is None:
        return None
    try:
        installed = metadata.distribution(_DISTRIBUTION)
        described = installed.read_text("METADATA") or ""
        entry_points = installed.read_text("entry_points.txt") or ""
        return make_wheel(package, installed.version, described, entry_points)
    except (metadata.PackageNotFoundError, OSError) as error:
        _log.warning("%s can't be given to jobs: %s", _DISTRIBUTION, error)
        return None
