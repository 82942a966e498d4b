"""The worker's client: connects to the reducers and all-reduces vectors."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING, Any, Sequence

from footplate_reduction.connection_setup import join
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import Op, WireType
from footplate_reduction.handshake_frames import LARGEST_WORLD, Hello
from footplate_reduction.native.library import load
from footplate_reduction.native.sender import Sender
from footplate_reduction.settings import check_job, check_token, worker_settings

if TYPE_CHECKING:
    from types import TracebackType

    from footplate_reduction.limits import Limits
    from footplate_reduction.native.sender import Pending


__all__ = ["Client", "Op", "ReductionError", "WireType", "connect"]


class Client:
    """A worker of a group, for use by one thread. After a ReductionError it can't be used again."""

    def __init__(self, sender: Sender, rank: int, world: int, wire: WireType | None) -> None:
        self.rank = rank
        self.world = world
        self.wire = wire
        """The type as which float32 travels where ``start`` names none."""
        self.collectives = 0
        """Started so far: what tells that gradients do go through here."""
        self._sender = sender
        self._process = os.getpid()
        atexit.register(self.close)  # who forgets it leaves all the same, and isn't a loss

    def start(
        self, buffer: Any, dtype: WireType, op: Op = Op.SUM, wire: WireType | None = None
    ) -> Pending:
        """Starts an all-reduce that replaces the contents of ``buffer`` by the result.

        ``buffer`` is any writable, contiguous object that gives its bytes (a NumPy array, a
        bytearray), with elements of ``dtype``. Nobody may touch it until ``wait`` returns. ``wire``
        is the type as which float32 elements travel: FLOAT16 and BFLOAT16 halve the bytes, and
        round. FLOAT32 overrides the client's own default.
        """
        if wire is None and dtype is WireType.FLOAT32:
            wire = self.wire
        vector = _bytes_of(buffer)
        _check_types(vector, dtype, wire)
        pending = self._sender.start(vector, dtype, op, wire)
        self.collectives += 1
        return pending

    def all_reduce(
        self, buffer: Any, dtype: WireType, op: Op = Op.SUM, wire: WireType | None = None
    ) -> None:
        """Runs ``start`` and waits for the result. Raises ReductionError."""
        self.start(buffer, dtype, op, wire).wait()

    def close(self, why: str | None = None) -> None:
        """Leaves the group.

        With ``why``, or during a collective, the collectives of all other workers fail with this
        reason.
        """
        atexit.unregister(self.close)
        if os.getpid() == self._process:
            self._sender.close(why)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        self.close(None if kind is None else f"{kind.__name__}: {error}"[:512])


def connect(
    reducers: Sequence[str] | str | None = None,
    *,
    rank: int,
    world: int,
    job: str | None = None,
    token: str | None = None,
    group: str | None = None,
    limits: Limits | None = None,
) -> Client:
    """Connects to the reducers; blocks until all workers of the group are connected.

    Defaults come from the environment. ``group`` is a name that all workers of this start of the
    job share, and no other start uses. ``reducers`` has the ``host:port`` of each reducer, in the
    same order for all workers. Raises ReductionError (LibraryError is one) and, if the environment
    lacks a setting, SettingsError.
    """
    environment = dict(os.environ)
    if reducers is not None:
        listed = reducers if isinstance(reducers, str) else ",".join(reducers)
        environment["FOOTPLATE_REDUCERS"] = listed
    settings = worker_settings(environment)
    limits = settings.limits if limits is None else limits
    token = settings.token if token is None else token
    hello = Hello(
        job=settings.job if job is None else job,
        group=settings.group if group is None else group,
        rank=rank,
        world=world,
        lane=0,
        timeout_s=limits.timeout_s,
        patience_s=limits.patience_s,
    )
    _check(hello, token)
    load()  # fails here rather than after the others have taken this worker in
    connections = join(settings.reducers, hello, token)
    try:
        close_in_children([each.fileno() for each in connections])
        sender = Sender(connections, rank, world, limits)
    except BaseException:
        for each in connections:
            each.close()
        raise
    return Client(sender, rank, world, settings.wire)


def _check(hello: Hello, token: str) -> None:
    check_job(hello.job)
    check_token(token)
    if not 1 <= hello.world <= LARGEST_WORLD or not 0 <= hello.rank < hello.world:
        message = "rank {} of {} workers given; allowed: 1 to {} workers, with ranks from 0"
        raise ValueError(message.format(hello.rank, hello.world, LARGEST_WORLD))


def _check_types(vector: memoryview, held: WireType, wire: WireType | None) -> None:
    narrow = wire in (WireType.FLOAT16, WireType.BFLOAT16)
    if wire is not None and wire is not held and not (held is WireType.FLOAT32 and narrow):
        message = f"{held.name} can't travel as {wire.name}"
        raise ValueError(message + "; only FLOAT32 can travel as another type, FLOAT16 or BFLOAT16")
    if len(vector) % held.itemsize:
        raise ValueError(
            f"the vector has {len(vector)} bytes, which is no whole number of {held.name} elements"
        )


def _bytes_of(buffer: Any) -> memoryview:
    view = memoryview(buffer)
    if view.readonly:
        raise ValueError("the vector is read-only, but the result must be written into it")
    if not view.c_contiguous:
        raise ValueError("the vector is not contiguous")
    return view.cast("B") if view.nbytes else memoryview(bytearray())


_kept: dict[int, int] = {}
"""Descriptors of the connections that are open, and the inodes by which they are known again:
whoever closes a connection doesn't tell, and its number may be another file's by then."""
_lock = threading.Lock()
_registered: list[bool] = []


def close_in_children(descriptors: Sequence[int]) -> None:
    """Makes processes that are forked from now on close their copies of ``descriptors``.

    Any thread may call this.
    """
    with _lock:
        if not _registered:
            os.register_at_fork(after_in_child=_close_copies)
            _registered.append(True)
        for descriptor, inode in list(_kept.items()):
            if not _is(descriptor, inode):
                del _kept[descriptor]
        _kept.update({each: os.fstat(each).st_ino for each in descriptors})


def _close_copies() -> None:
    """Closes the inherited descriptors in a forked child.

    Doesn't take the lock: a thread that doesn't exist in the child may hold it.
    """
    for descriptor, inode in list(_kept.items()):
        if _is(descriptor, inode):
            os.close(descriptor)


def _is(descriptor: int, inode: int) -> bool:
    try:
        return os.fstat(descriptor).st_ino == inode
    except OSError:  # it is closed
        return False
