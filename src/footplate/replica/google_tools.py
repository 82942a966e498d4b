"""Settings that point a program's ``gsutil`` and ``gcloud`` to Footplate.

``gsutil`` knows no variable for the address of Cloud Storage. Its file of settings says that
``gcloud storage``, which knows one, does its work. Neither sees the settings and the credentials of
the user who runs the service.
"""

from __future__ import annotations

import os

from footplate.replica.file_io import write_readable, write_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping

_LEADING = "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"
_TOOLS = ("gsutil", "gcloud")
_WRAPPER = """\
#!/bin/sh
TMPDIR=/tmp exec '{program}' "$@"
"""
_BOTO = """\
[Boto]
num_retries = 1
http_socket_timeout = 10
[GSUtil]
check_hashes = if_fast_else_skip
software_update_check_period = 0
state_dir = {state}
use_gcloud_storage = True
"""


def make_settings(variables: Mapping[str, str], directory: str, tmp: str) -> dict[str, str]:
    """Returns variables to add for Google's tools; none if ``variables`` don't redirect ``gcloud``.

    The settings file lies in ``directory``; the tools write below ``tmp``. Raises OSError.
    """
    if not variables.get(_LEADING):
        return {}
    state = os.path.join(tmp, ".google-cloud")
    path = os.path.join(directory, "boto")
    write_readable(path, _BOTO.format(state=state))
    return {"BOTO_CONFIG": path, "CLOUDSDK_CONFIG": state}


def wrap_tools(directory: str, path: str) -> str:
    """Returns PATH with tools first whose TMPDIR is short enough for the names of their sockets.

    Raises OSError.
    """
    os.makedirs(directory, exist_ok=True)
    for name in _TOOLS:
        places = (os.path.join(place, name) for place in path.split(os.pathsep) if place)
        program = next((found for found in places if os.access(found, os.X_OK)), "")
        if program and "'" not in program:
            text = _WRAPPER.format(program=program)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            write_text(os.path.join(directory, name), text, flags, 0o755)
    return os.pathsep.join([directory, path])
