"""The ticket of a supervisor: what its backend, or the launcher on its node, tells it of the host.

It lies as ``ticket.json`` in the supervisor's HOME. An engine's launcher gets it from the server,
and adds what is of its node.
"""

from __future__ import annotations

from footplate.protocol.message import Message
from footplate.protocol.promised import Promised


class SupervisorTicket(Message, sparse=True):
    """The server's ticket for a supervisor: the paths and settings to run with. Paths are absolute;
    an empty path means that there is none.
    """

    token: str = ""
    server_file: str = ""
    """Where the address of the server stands."""
    restart: int = 0
    """Which start of the replica in its attempt it is, from 0."""
    service: str = ""
    """The id by which containers are known to be this service's."""
    isolation: str = "auto"
    """The containment mode; ``auto``: the strongest one."""
    promised: Promised | None = None
    """What this machine has of isolation; None: the supervisor finds that by itself."""
    program_users: tuple[object, ...] | None = None
    """``[first, last]`` ids of a range, or ``[uid, gid, name]``; None: programs have ours."""
    build_users: tuple[object, ...] | None = None
    """As ``program_users``, for builds without a program."""
    allow_root: tuple[str, ...] = ()
    """Projects whose programs may be root; ``*``: all."""
    private: tuple[str, ...] = ()
    """Directories of which programs see what is theirs at most."""
    blocked: tuple[str, ...] = ()
    """Files that no program sees."""
    tmp_paths: tuple[str, ...] = ()
    """Below /tmp: programs see them beside a /tmp of their own."""
    buckets: str = ""
    """The directory in which all buckets lie."""
    job_dir_roots: tuple[str, ...] = ()
    """Below them no link leads to a job's directory."""
    cache: str = ""
    cache_limit_bytes: int = 0
    build_limits: tuple[float, int] = (0, 0)
    """The seconds and the bytes of memory of one build; 0: no limit."""
    uv: str = ""
    py_spy: str = ""
    pythons: tuple[str, ...] = ()
    """Patterns of paths: where to look for more interpreters."""
    fetch_interpreters: bool = False
    spool_limit_bytes: int = 64 << 20
    sweep_patience_s: float = 60.0
    """How long a cleanup waits for the server in all."""
    reserve: str = ""
    """What the last records of replicas may take on a full disk."""
    roots: str = ""
    """Roots of file systems that programs had before."""
    kept: str = ""
    """Where files stay that programs wrote to no bucket."""
    image_puller: tuple[str, ...] = ()
    """The command that pulls container images."""
    container_engine: str = ""
    """The socket of the node's engine, or the name of a command that runs images, where the region
    names one.
    """
    files: str = ""
    """``copied``: the node doesn't share the folders of buckets."""
    keeps_files: bool = False
    """The node keeps ``kept`` when the replica is gone."""
    host: str = ""
    """The address at which others reach the node."""
    launchers: str = ""
    """The directory of the node's launchers; empty: this is the service's machine."""
    launcher: str = ""
    """The incarnation of the launcher that has started the replica."""
    copies: str = ""
    """The node's folder for copies of buckets."""
    places: str = ""
    """What the server must know of the node, as a query."""

    @property
    def build_promise(self) -> Promised:
        """Returns the isolation of builds. Raises ValueError if the ticket doesn't say it."""
        if self.promised is None:
            raise ValueError("the ticket doesn't say what isolation builds have")
        return self.promised


class ProbeQuestion(Message):
    """The question to the supervisor's ``probe``: which isolation can programs have?"""

    ticket: SupervisorTicket
    folder: str
    """Of the service's own."""
    limited: bool = False
    """Programs are to be limited to what their machine has."""
