from __future__ import annotations

import pytest

from footplate.replica.network.loopback import find_lost_proxies, find_resolvers

RESOLVERS = "/etc/resolv.conf"
BEHIND = "/run/systemd/resolve/resolv.conf"


@pytest.mark.parametrize(
    ("files", "seen", "fault"),
    [
        ({RESOLVERS: "search a\nnameserver 127.0.0.1\nnameserver 192.0.2.53\n"}, "", False),
        ({RESOLVERS: "nameserver 127.0.0.53\n", BEHIND: "nameserver 192.0.2.53\n"}, BEHIND, False),
        ({RESOLVERS: "nameserver 127.0.0.53\n"}, "", True),
        ({RESOLVERS: "nameserver\n# nameserver 192.0.2.53\n"}, "", True),
        ({}, "", True),
    ],
)
def test_servers_on_the_machines_loopback_are_gone_around(
    files: dict[str, str],
    seen: str,
    fault: bool,  # noqa: FBT001
) -> None:
    path, why = find_resolvers(lambda path: files.get(path, ""))
    assert (path, bool(why)) == (seen, fault)


@pytest.mark.parametrize(
    ("proxy", "is_lost"),
    [
        ("http://127.0.0.1:3128", True),
        ("http://user:secret@localhost:3128/", True),
        ("socks5://[::1]:1080", True),
        ("127.0.0.1:3128", True),
        ("http://proxy.example:3128", False),
        ("", False),
    ],
)
def test_a_proxy_on_the_machines_loopback_is_lost(proxy: str, is_lost: bool) -> None:  # noqa: FBT001
    found = find_lost_proxies({"https_proxy": proxy})
    assert found == (["https_proxy leads to this machine's loopback"] if is_lost else [])
    assert "secret" not in "".join(found)
