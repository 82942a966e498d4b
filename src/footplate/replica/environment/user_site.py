"""Runs at the start of each Python of a runtime: finds first what its program installs by pip.

Environments are shared and can't be written. So pip installs for the user, below PYTHONUSERBASE,
of which each replica has its own. A virtual environment doesn't look there by itself, and pip
refuses there to install another version of what the environment has.

The service copies this file into each runtime, as ``footplate_user_site.py``. It runs on any Python
from 3.6 on, and never breaks one.
"""

import os
import sys

TYPE_CHECKING = False  # typing would cost time
if TYPE_CHECKING:
    from typing import Any

BASE = "PYTHONUSERBASE"
_SITE = "site-packages"


class Finder:
    """A finder to go first on ``sys.meta_path``; it finds no module, and waits for the import of
    pip.
    """

    def find_spec(self, name: str, *_where: "Any", **_more: "Any") -> None:
        if name == "pip":
            sys.meta_path.remove(self)
            lift_limits()


def lift_limits() -> None:
    """Lets pip install for the user what it would install in no virtual environment."""
    import site
    import sysconfig  # noqa: F401  it keeps the real base, by which extensions are compiled

    site.ENABLE_USER_SITE = True  # Python sets it to False after this file has run
    sys.base_prefix = sys.prefix
    os.environ.setdefault("PIP_BREAK_SYSTEM_PACKAGES", "1")  # as the base may be marked


def add_user_site() -> None:
    """Adds the user's site directory, unless there is no PYTHONUSERBASE or Python was started
    without it.
    """
    if not os.environ.get(BASE) or sys.flags.ignore_environment or sys.flags.no_user_site:
        return
    import site

    folder = site.getusersitepackages()
    try:
        os.makedirs(folder, exist_ok=True)  # Python would not look again into one that is missing
    except OSError:  # the disk is full, say: the program starts without
        return
    sites = [place for place, path in enumerate(sys.path) if path.endswith(_SITE)]
    sys.path.insert(min(sites, default=len(sys.path)), folder)
    site.addsitedir(folder)
    sys.meta_path.insert(0, Finder())


if __name__ == "footplate_user_site":
    add_user_site()
