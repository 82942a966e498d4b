"""The runtimes that the catalogue offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from footplate.domain.runtimes import Runtime


class Runtimes(Protocol):
    def resolve(self, requested: str, field: str) -> Runtime:
        """The runtime for what a job asks for.

        ``requested`` is ``version:2.21``, ``version:`` (the default) or ``image:URI``.

        Raises:
            InvalidArgument: there is none; the violation names ``field`` and the nearest ones.
        """
        ...

    def lock_text(self, sha256: str) -> str:
        """The requirements of a slice, pinned, with hashes. Raises NotFound."""
        ...
