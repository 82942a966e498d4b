from __future__ import annotations

from footplate.replica.rendezvous import compose_hosts

HOSTS = """\
# the machine's
127.0.0.1\tlocalhost
127.0.1.1\tbox.example box  # its own
::1 localhost ip6-localhost box
192.0.2.7 files.example files
"""


def test_the_machines_own_name_leads_to_the_replica_and_no_other_does() -> None:
    assert compose_hosts(HOSTS, "198.18.3.17", "box").splitlines() == [
        "198.18.3.17 box.example box",
        "# the machine's",
        "127.0.0.1\tlocalhost",
        "::1 localhost ip6-localhost",
        "192.0.2.7 files.example files",
    ]


def test_a_name_that_is_in_no_file_is_there_then() -> None:
    assert compose_hosts("", "198.18.3.17", "box") == "198.18.3.17 box\n"


def test_localhost_stays_the_loopback() -> None:
    assert compose_hosts(HOSTS, "198.18.3.17", "localhost.localdomain") == HOSTS
