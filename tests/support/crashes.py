"""Deaths of the service between any two writes, and other faults, as a test asks for them."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from footplate.domain.errors import NotLeading, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")
Port = TypeVar("Port")


class Crash(BaseException):
    """The process dies here. No handler of the service may catch it."""


def die() -> None:
    raise Crash


def be_away() -> None:
    raise Unavailable("the database is away for a moment")


class CrashPoint:
    """Burns before and after every write; where it is armed for, ``fault`` happens."""

    def __init__(self, fault: Callable[[], None] = die) -> None:
        self._fault = fault
        self._left: int | None = None
        self.crashes = 0

    def arm(self, points: int) -> None:
        """At the ``points``-th point from now; each write has two, before and after it."""
        self._left = points

    def disarm(self) -> None:
        self._left = None

    def burn(self) -> None:
        if self._left is None:
            return
        if self._left == 0:
            self._left = None
            self.crashes += 1
            self._fault()
        else:
            self._left -= 1


def mortal(port: Port, crash_point: CrashPoint, *writes: str) -> Port:
    """``port``, whose user may die before and after each call of the methods named ``writes``."""
    return cast("Port", _Mortal(port, crash_point, frozenset(writes)))


class _Mortal:
    def __init__(self, port: object, crash_point: CrashPoint, writes: frozenset[str]) -> None:
        self._port = port
        self._fuse = crash_point
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._port, name)
        return _between(attribute, self._fuse) if name in self._writes else attribute


def _between(method: Callable[P, R], crash_point: CrashPoint) -> Callable[P, R]:
    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        crash_point.burn()
        result = method(*args, **kwargs)
        crash_point.burn()
        return result

    return call


class Fenced:
    """``port``, whose methods named ``writes`` work only while the epoch is that of its maker."""

    def __init__(
        self, port: object, epoch: int, epoch_now: Callable[[], int], *writes: str
    ) -> None:
        self._port = port
        self._epoch = epoch
        self._epoch_now = epoch_now
        self._writes = frozenset(writes)

    def __getattr__(self, name: str) -> Any:
        if name in self._writes and self._epoch != self._epoch_now():
            return _refuse
        return getattr(self._port, name)


def _refuse(*_args: object, **_kwargs: object) -> None:
    raise NotLeading("another server leads now")
