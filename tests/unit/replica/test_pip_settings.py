"""Which settings of pip programs get of those that the service was started with."""

from __future__ import annotations

import pytest

from footplate.replica.program_start import find_scripts, make_pip_settings

OWN = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "PYTHONUSERBASE": "/tmp/home/.local",
}


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ({}, {}),
        ({"PIP_INDEX_URL": "https://a/simple"}, {"PIP_INDEX_URL": "https://a/simple"}),
        (
            {"UV_DEFAULT_INDEX": "https://me:secret@a/simple", "PIP_INDEX_URL": "https://b"},
            {"PIP_INDEX_URL": "https://a/simple"},
        ),
        (
            {"UV_INDEX": "own=https://token@a/simple https://me@firm:secret@b/c@d"},
            {"PIP_EXTRA_INDEX_URL": "https://a/simple https://b/c@d"},
        ),
        ({"UV_FIND_LINKS": "/wheels,https://a"}, {"PIP_FIND_LINKS": "/wheels https://a"}),
        ({"PIP_FIND_LINKS": "/wheels"}, {"PIP_FIND_LINKS": "/wheels"}),
        ({"UV_NO_INDEX": "1"}, {"PIP_NO_INDEX": "1"}),
        ({"PIP_CERT": "/roots.pem"}, {"PIP_CERT": "/roots.pem"}),
        ({"PIP_CLIENT_CERT": "/key.pem", "PIP_CONFIG_FILE": "/pip.conf", "NETRC": "/n"}, {}),
        ({"UV_INDEX_OWN_PASSWORD": "secret", "PIP_PROXY": "http://me:secret@p"}, {}),
    ],
)
def test_addresses_and_no_credentials(host: dict[str, str], found: dict[str, str]) -> None:
    assert make_pip_settings(host, "/tmp") == {**OWN, **found}


def test_commands_lie_where_pip_puts_them() -> None:
    assert find_scripts("/tmp") == f"{OWN['PYTHONUSERBASE']}/bin"
