"""The settings of pip in programs: where it installs, and from which indexes.

The indexes are those of builds, as far as programs may know them: their addresses without user
names and passwords, no settings file, no client certificate.
"""

from __future__ import annotations

import os
import re

from footplate.replica.user_names import HOME_DIRECTORY

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping

_INDEXES = {
    "PIP_INDEX_URL": ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"),
    "PIP_EXTRA_INDEX_URL": ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"),
    "PIP_FIND_LINKS": ("UV_FIND_LINKS", "PIP_FIND_LINKS"),
    "PIP_NO_INDEX": ("UV_NO_INDEX", "PIP_NO_INDEX"),
    "PIP_TRUSTED_HOST": ("UV_INSECURE_HOST", "PIP_TRUSTED_HOST"),
    "PIP_CERT": ("PIP_CERT",),
    "PIP_DEFAULT_TIMEOUT": ("PIP_DEFAULT_TIMEOUT", "PIP_TIMEOUT"),
}
"""The host's, by pip's variable, first the one that builds prefer: uv reads its own."""
_OWN = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}
_SEPARATORS = re.compile(r"[\s,]+")
_NAME = re.compile(r"^[\w.-]+=(?=[a-z+]+://)")
"""How uv lets an index be called: ``internal=https://...``."""
_CREDENTIALS = re.compile(r"(?<=://)[^/\s]*@")
_BASE = os.path.join(HOME_DIRECTORY, ".local")


def make_pip_settings(host: Mapping[str, str], tmp: str) -> dict[str, str]:
    """Returns pip's variables for a program whose temporary directory is ``tmp``. ``host`` is the
    service's environment.
    """
    found = dict(_OWN)
    for name, sources in _INDEXES.items():
        words = next((host[source] for source in sources if host.get(source)), "").strip()
        parts = [_NAME.sub("", part) for part in _SEPARATORS.split(words)]
        if words:
            found[name] = " ".join(_CREDENTIALS.sub("", part) for part in parts)
    return {**found, "PYTHONUSERBASE": os.path.join(tmp, _BASE)}


def find_scripts(tmp: str) -> str:
    """Returns the directory into which pip puts commands."""
    return os.path.join(tmp, _BASE, "bin")
