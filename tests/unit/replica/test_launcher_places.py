"""What a launcher adds to a ticket of the places of its node."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.launcher.node_ticket import add_places

URL = "http://127.0.0.1:7"


def test_programs_reach_the_server_through_the_launcher(tmp_path: Path) -> None:
    ticket = SupervisorTicket(files="shared", buckets="/data/buckets")
    add_places(ticket, URL, str(tmp_path))
    assert parse_qs(ticket.places.removeprefix("?")) == {"url": [URL]}
    assert ticket.buckets == "/data/buckets"
    assert ticket.copies == ""
    assert list(tmp_path.iterdir()) == []


def test_copies_of_buckets_lie_beside_the_homes_of_all_starts(tmp_path: Path) -> None:
    ticket = SupervisorTicket(files="copied", buckets="/data/buckets")
    add_places(ticket, URL, str(tmp_path))
    files = tmp_path / "copies" / "files"
    assert parse_qs(ticket.places.removeprefix("?")) == {"url": [URL], "files": [str(files)]}
    assert (ticket.copies, ticket.buckets) == (str(files.parent), str(files))
    assert files.is_dir()
