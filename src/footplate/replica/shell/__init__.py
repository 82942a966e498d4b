"""The ``shell`` command: runs one shell for one user beside the supervisor.

It isn't the program's: it lives outside the isolation, where the token is, and starts the shell
inside. It reaches out to the server; nothing listens.
"""

from __future__ import annotations

from footplate.replica.shell.session import main

__all__ = ["main"]
