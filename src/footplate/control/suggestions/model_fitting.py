"""Fits the models of studies in the background. A model is the same on every server."""

from __future__ import annotations

import logging
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from footplate.control.job_locks import JobLocks
from footplate.control.suggestions import tuner_loader
from footplate.domain.errors import Unavailable
from footplate.domain.names import JobUid, StudyUid
from footplate.domain.studies.study import Study
from footplate.domain.studies.study_history import first_ended
from footplate.ports.studies import StudyStore, StudyWithTrials

if TYPE_CHECKING:
    from footplate.tuning.bayesian.model import Model

_REMEMBERED = 128
"""Models in memory, the newest of as many studies."""
_LINKS = 3
"""The models kept of each study, beside the first; a suggestion wants one of the last two."""
_log = logging.getLogger(__name__)


class Models:
    """The models of studies.

    A model is identified by the number of trials that had ended, in the order of their ends. It
    depends only on these trials and the model before it, so it doesn't matter when it is fitted, or
    how often.
    """

    def __init__(self, studies: StudyStore) -> None:
        self._studies = studies
        self._job_locks = JobLocks()
        self._lock = Lock()
        self._newest: OrderedDict[StudyUid, dict[int, Model | None]] = OrderedDict()
        self._waiting: dict[StudyUid, StudyWithTrials] = {}
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="refit")

    def prepare(self, kept: StudyWithTrials) -> None:
        """Fits, in the background, the models that the next suggestions will use.

        If a study is passed again before its turn, only the last version counts.
        """
        uid = kept.study.uid
        with self._lock:
            if self._closed or not kept.study.ended:
                return
            waits = uid in self._waiting
            self._waiting[uid] = kept
            if not waits:
                self._worker.submit(self._prepare, uid)

    def wanted(self, kept: StudyWithTrials) -> tuple[int, Model | None]:
        """Returns the count and the model that a suggestion uses now, fitted if necessary."""
        tuner = tuner_loader.load()
        if not tuner.has_models(kept.study.config):
            return 0, None
        count = tuner.wanted(_without_trials(kept), kept.study.ended)
        return count, self.at(kept, count)

    def at(self, kept: StudyWithTrials, count: int) -> Model | None:
        """Returns the model of the first ``count`` ended trials; None: too few for a model.

        Raises Unavailable: the model isn't fitted yet, and the service is about to end.
        """
        uid = kept.study.uid
        known = self._known(uid)
        with suppress(KeyError):  # without waiting for another fit
            return known[count]
        # Who waits here finds the model that the other thread has fitted.
        with self._job_locks.of(JobUid(uid)):
            return known[count] if count in known else self._fit(kept, count, known)

    def forget(self, uid: StudyUid) -> None:
        with self._lock:
            self._newest.pop(uid, None)
            self._waiting.pop(uid, None)

    def close(self) -> None:
        """Waits for the current fit, and starts no other."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
        self._worker.shutdown(cancel_futures=True)

    def _prepare(self, uid: StudyUid) -> None:
        with self._lock:
            kept = self._waiting.pop(uid, None)
        if kept is None:
            return
        try:
            tuner = tuner_loader.load()
            if tuner.has_models(kept.study.config):
                self.at(kept, tuner.newest(_without_trials(kept), kept.study.ended))
        except Exception:
            # When the server ends, `_fit` raises on purpose.
            if not self._closed:
                _log.exception("the server can't fit a model to the trials of study %s now", uid)

    def _known(self, uid: StudyUid) -> dict[int, Model | None]:
        with self._lock:
            known = self._newest.setdefault(uid, {})
            self._newest.move_to_end(uid)
            while len(self._newest) > _REMEMBERED:
                self._newest.popitem(last=False)
            return known

    def _fit(
        self, kept: StudyWithTrials, count: int, known: dict[int, Model | None]
    ) -> Model | None:
        """Fits a model, starting from the last model of the chain that exists."""
        tuner = tuner_loader.load()
        missing: list[int] = []
        model: Model | None = None
        for link in reversed(tuner.chain(_without_trials(kept), count)):
            if self._find(kept, link, known):
                model = known[link]
                break
            missing.append(link)
        for link in reversed(missing):
            if self._closed:
                raise Unavailable("the server is shutting down; try again")
            study = first_ended(kept.study, kept.trials, link)
            model = known[link] = tuner.refit(study, model)
        for old in sorted(known.keys() - {0})[:-_LINKS]:  # 0 has what earlier studies say
            del known[old]
        return model

    def _find(self, kept: StudyWithTrials, count: int, known: dict[int, Model | None]) -> bool:
        """Loads a model of the chain from the store if necessary; returns whether it is known."""
        if count in known:
            return True
        record = self._studies.model(kept.study.uid, count)
        model = None if record is None else tuner_loader.load().model_from_record(record)
        if model is None:
            return False
        known[count] = model
        return True


def _without_trials(kept: StudyWithTrials) -> Study:
    return first_ended(kept.study, (), 0)
