"""Finds out whether the last checkpoint of an Estimator was evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.jobs import Job
from footplate.domain.names import GcsUri
from footplate.ports.buckets import Buckets
from footplate.ports.event_files import EventFiles

BEHIND = "EVALUATOR_BEHIND"
"""The event of a job whose evaluator is waited for."""
STEP = re.compile(r"^the checkpoint of step (\d{1,15}) ")
"""How its message begins."""
POLL_S = 5.0
"""The time between two looks at the files, while an evaluator is behind."""
_CHECKPOINT = re.compile(r"(?:^|/)model\.ckpt-(\d{1,15})\.index$")
_EVALUATIONS = re.compile(r"(?:^|/)eval[^/]*$")
"""The folder in which Estimators write what they evaluate: ``eval`` or ``eval_NAME``."""
_MOST_PAGES = 5
_MOST_BYTES = 64 << 20


class Evaluations:
    """Finds evaluations in a job's directories, in buckets that are folders of this machine.

    For other buckets, and programs that aren't Estimators, nothing is known, so nobody waits for
    them.
    """

    def __init__(self, buckets: Buckets, events: EventFiles, limit_s: float) -> None:
        """Stores the sources; ``limit_s`` is how long to wait for an evaluator that is behind."""
        self._buckets = buckets
        self._events = events
        self.limit_s = limit_s

    def behind(self, job: Job) -> str:
        """Describes the checkpoint that isn't evaluated yet; empty: none is known."""
        places = [each.uri for each in job.spec.directories if each.uri.startswith("gs://")]
        for place in dict.fromkeys(places):
            try:
                uri = GcsUri.parse(place, "directory")
                newest = max(self._checkpoints(uri), default=0)
                evaluated = max(self._evaluated(uri), default=0) if newest else 0
            except (InvalidArgument, NotFound):
                continue
            if newest > evaluated:
                last = f"the last evaluation is of step {evaluated}" if evaluated else "none was"
                return f"the checkpoint of step {newest} has not been evaluated, {last}"
        return ""

    def _checkpoints(self, uri: GcsUri) -> Iterator[int]:
        token, prefix = None, f"{uri.path.rstrip('/')}/".lstrip("/")
        for _ in range(_MOST_PAGES):
            page = self._buckets.list(uri.bucket, prefix=prefix, token=token)
            for each in page.objects:
                match = _CHECKPOINT.search(each.name)
                if match is not None:
                    yield int(match[1])
            token = page.next_token
            if token is None:
                return

    def _evaluated(self, uri: GcsUri) -> Iterator[int]:
        path = self._buckets.local_path(uri)
        if path is None:
            raise NotFound("the bucket of the checkpoints is not a folder of this machine")
        piece = self._events.read(str(path), {}, _MOST_BYTES)
        for scalar in piece.scalars:
            if _EVALUATIONS.search(scalar.folder):
                yield scalar.step
