"""Runs replicas on the nodes of an engine, such as Slurm.

An engine assigns nodes: one of its jobs is an *allocation* for the replicas of an attempt, and
starts a launcher (``replica.launcher``) for each. The launchers ask the server what to run.

All that is known stands in files, so that any server with the same data directory goes on after a
crash. Below ``ROOT/ATTEMPT_ID/``::

    ~A.allocation     {"replicas": [...], "warm": ...}: the allocation number A; a warm one is
                      bound from the beginning to a job in which a launcher waits
    ~A.job            {"id": "..."}: the one job of the engine that serves it; removed if the
                      engine refused that job before anything of it ran
    ~A.silent         {"reason": "...", "cause": "..."}: its job has ended so, but a node of it did
                      not answer then
    ~A.ended          {"reason": "...", "cause": "..."}: no node of it runs anything of ours
    REPLICA~N.ticket  the start number N of a replica, and its allocation
    REPLICA~N.stop    that start is to end
    REPLICA~N.run     {}: that start was given to its launcher; {"allocation": A}: it was moved
                      to allocation A before that
    REPLICA~N.A.run   that start was given to its launcher in allocation A, where it was moved to
    REPLICA~N.gone    {"reason": "...", "cause": "..."}: nothing is left of it; never changes
    REPLICA.A.claim   the one launcher process that serves the replica in allocation A
    REPLICA.A.report  what that has said last; touched whenever it calls
    REPLICA.A.silence how long it has been silent, and since which touch of its report
    REPLICA.A.node    the state of its node, recorded while it called

What is made once is made by a link, which one of several servers can do: the others
read what the first one wrote. So of two jobs of one allocation only one is ever served.
"""

from footplate.backends.engine.backend import EngineBackend
from footplate.backends.engine.launcher_program import LauncherSettings

__all__ = ["EngineBackend", "LauncherSettings"]
