"""Adds to the ticket of a supervisor what is of its node."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.protocol.ticket import SupervisorTicket

COPIED = "copied"
"""What a ticket says of files where the node doesn't share the folders of buckets."""
COPIES = "copies"
KEPT = "kept"


def add_places(ticket: SupervisorTicket, url: str, directory: str) -> None:
    """Adds to the ticket what the server must know of this node, and the node's folder for copies
    of buckets.

    The copies outlast the starts of the replica. Raises OSError.
    """
    places = {"url": url}
    if ticket.files == COPIED:
        ticket.copies = os.path.join(directory, COPIES)
        ticket.buckets = places["files"] = os.path.join(ticket.copies, "files")
        os.makedirs(ticket.buckets, exist_ok=True)
    ticket.places = "?" + "&".join(f"{name}={quote(value)}" for name, value in places.items())


def quote(value: str) -> str:
    """Returns a value of a query; urllib.parse would cost 2 ms in every launcher."""
    return "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"%{byte:02X}"
        for byte in os.fsencode(value)
    )


def find_uv(path: str) -> str:
    """Returns the path of uv: that of the server, or the one in the node's PATH."""
    if os.access(path, os.X_OK):
        return path
    import shutil  # which takes 2 ms, as urllib.parse does

    return shutil.which("uv") or path


def complete(ticket: SupervisorTicket, scratch: str, server_file: str, host: str) -> None:
    """Adds to the ticket the paths of this node, and the address at which others reach it."""
    ticket.server_file, ticket.host = server_file, host
    ticket.cache = ticket.cache or os.path.join(scratch, "cache")
    ticket.uv = find_uv(ticket.uv)
    ticket.kept = os.path.join(scratch, KEPT) if ticket.keeps_files else ""
    ticket.launchers = os.path.join(scratch, "launchers")
    ticket.private = (*ticket.private, scratch)
