"""Vizier studies as clients see them: create, get, list, delete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from footplate.control.jobs import Ids
from footplate.domain.errors import AlreadyExists, InvalidArgument, NotFound, Violation
from footplate.domain.formatting import quoted
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.records import StudyRecord
from footplate.domain.studies.request import StudyRequest
from footplate.domain.studies.study import Study
from footplate.domain.studies.study_history import study_of
from footplate.domain.submission import Location
from footplate.ports.clock import Clock
from footplate.ports.pages import Page
from footplate.ports.studies import StudyStore

_SEEDS = 1 << 32


@dataclass(frozen=True)
class Studies:
    """The studies of clients; ``forget`` is called with deleted studies."""

    store: StudyStore
    clock: Clock
    ids: Ids
    forget: Callable[[StudyUid], None] = lambda _: None

    def create(self, where: Location, request: StudyRequest) -> StudyRecord:
        """Creates a study, or returns the existing one of this name with the same spec.

        The SDK's ``create_or_load`` doesn't understand AlreadyExists when it comes over REST, so an
        existing study with the very same spec is returned. A study whose id the client chooses is
        never returned again: clients of ml v1 understand the error.

        Raises:
            AlreadyExists: another study has this display name or id; nothing was changed.
            InvalidArgument: the study to learn from doesn't exist.
        """
        study_id = request.study_id or str(self.ids.number())
        name = StudyName(where.project, where.location, study_id)
        made = StudyRecord(
            uid=StudyUid(self.ids.uid()),
            name=name,
            display_name=request.display_name,
            config=request.config,
            request=request.request,
            seed=self.ids.number() % _SEEDS,
            create_time=self.clock.now(),
            earlier=self._earlier(where, request.learns_from),
        )
        try:
            self.store.create(made)
        except AlreadyExists:
            if request.study_id:
                said = f"{name} already exists, or a study with this id as its displayName"
                raise AlreadyExists(f"{said}; choose another studyId") from None
            return self._same(name.collection, request)
        return made

    def get(self, name: StudyName) -> StudyRecord:
        return self.store.find(name).study

    def lookup(self, where: Location, display_name: str) -> StudyRecord:
        collection = StudyName(where.project, where.location, "").collection
        return self.store.lookup(collection, display_name)

    def list(self, where: Location, *, limit: int, after: str | None) -> Page[StudyRecord]:
        collection = StudyName(where.project, where.location, "").collection
        return self.store.list(collection, limit=limit, after=after)

    def delete(self, name: StudyName) -> None:
        """Deletes the study with all of its trials."""
        uid = self.store.find(name).study.uid
        self.store.delete(uid)
        self.forget(uid)

    def _same(self, collection: str, request: StudyRequest) -> StudyRecord:
        there = self.store.lookup(collection, request.display_name)
        if there.request == request.request:
            return there
        raise AlreadyExists(
            f"{there.name} has the display name {quoted(request.display_name)} already, with "
            "another studySpec; look it up with studies:lookup, or choose another "
            "displayName"
        )

    def _earlier(self, where: Location, ids: Sequence[str]) -> tuple[Study, ...]:
        found: list[Study] = []
        for study_id in ids:
            try:
                kept = self.store.find(StudyName(where.project, where.location, study_id))
            except NotFound:
                said = f"{quoted(study_id)} given; allowed: the id of a study of this location"
                raise InvalidArgument.of((Violation("learnFrom", said),)) from None
            whole = study_of(kept.study, kept.trials)
            found += [*whole.earlier, replace(whole, trials=whole.finished, earlier=())]
        return tuple(found)
