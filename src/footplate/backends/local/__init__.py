"""The local backend: each replica is a supervisor process with a directory, its HOME.

What is to run stands on disk before anything runs, and whether it runs is asked of the kernel
(file locks, process descriptors), never remembered: the next server after a crash sees the same.

A HOME is ``ROOT/ATTEMPT_ID/REPLICA/``, for this user alone::

    ticket.json  what the supervisor needs; made with the whole attempt, by one rename
    spawn        locked from the moment of the spawn until that supervisor process is dead
    lock, pid    the live supervisor's: it locks, then writes its pid, and lives on
    stop         the replica is to end; made before its supervisor is signalled
    gone         {"reason": "..."}: nothing of it is left
    work/        the program's; nothing here is read or followed

A program runs as the same user, and so can write to all of these. What it writes can make its own
replica look lost; it can't make this backend signal, read or remove anything outside of HOME.
"""

from footplate.backends.local.backend import LocalBackend

__all__ = ["LocalBackend"]
