"""A worker as a process of its own, told line by line what to do.

``join``, ``start BYTES``, ``wait``, ``reduce BYTES``, ``digest ELEMENTS``, ``close [why]``,
``raise``, ``fork``. Its answer is a line of JSON: {"said": the command} or {"error": ...,
"culprit": ...}, "after_s", and "digest" of what came out where each rank has other numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from footplate_reduction.client import Client, ReductionError, WireType, connect
from footplate_reduction.limits import Limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from footplate_reduction.native.sender import Pending


class Worker:
    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._client: Client | None = None
        self._pending: list[Pending] = []

    def do(self, command: str, *words: str) -> str | None:
        digest: str | None = getattr(self, "_" + command)(*words)
        return digest

    def _join(self) -> None:
        options = dict(self._options, limits=Limits(**self._options["limits"]))
        self._client = connect(options.pop("reducers"), **options)

    def _start(self, nbytes: str, dtype: str = "FLOAT32") -> None:
        vector = np.zeros(int(nbytes), np.uint8)
        self._pending.append(self._joined().start(vector, WireType[dtype]))

    def _wait(self) -> None:
        self._pending.pop(0).wait()

    def _reduce(self, nbytes: str) -> None:
        self._start(nbytes)
        self._wait()

    def _digest(self, elements: str) -> str:
        vector = numbers(self._options["rank"], int(elements))
        self._joined().all_reduce(vector, WireType.FLOAT32)
        return hashlib.sha256(vector.tobytes()).hexdigest()

    def _close(self, *why: str) -> None:
        self._joined().close(" ".join(why) or None)

    def _raise(self) -> None:
        with self._joined():
            raise OSError("the data set is gone")

    def _fork(self) -> None:
        """A child that lives until it is killed; a line before the answer has its id."""
        child = os.fork()
        if not child:
            signal.pause()
            os._exit(0)
        print(json.dumps({"child": child}), flush=True)

    def _joined(self) -> Client:
        assert self._client is not None
        return self._client


def numbers(rank: int, elements: int) -> NDArray[np.float32]:
    """Of each rank other ones, whose sum depends on the order."""
    return np.random.default_rng(rank).standard_normal(elements, np.float32)


def main() -> None:
    worker = Worker(json.loads(sys.argv[1]))
    print(json.dumps({"said": "ready"}), flush=True)
    for line in sys.stdin:
        began = time.monotonic()
        answer: dict[str, object] = {"said": line.strip()}
        try:
            digest = worker.do(*line.split())
            if digest is not None:
                answer["digest"] = digest
        except ReductionError as error:
            answer = {"error": str(error), "culprit": error.culprit}
        answer["after_s"] = time.monotonic() - began
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
