"""``projects.locations.studies`` of aiplatform v1: the studies of Vizier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from footplate.api.json_route import Call
from footplate.api.vertex_v1.parents import location_of
from footplate.control.vizier import Studies
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.machines import unknown_region
from footplate.domain.names import StudyName
from footplate.domain.studies.records import StudyRecord
from footplate.domain.submission import Location
from footplate.wire.json_text import JsonObject
from footplate.wire.paging import list_json, parse_token
from footplate.wire.vertex_v1.queries import PAGES
from footplate.wire.vertex_v1.vizier_requests import read_lookup, read_study
from footplate.wire.vertex_v1.vizier_responses import study_json


class StudiesApi:
    """The handlers of studies, one for each API method."""

    def __init__(
        self,
        studies: Studies,
        catalogue: Catalogue,
        form: Callable[[StudyRecord], JsonObject] = study_json,
    ) -> None:
        """Creates the handlers; ``form`` formats the studies of a list."""
        self._studies = studies
        self._catalogue = catalogue
        self._form = form

    def create(self, call: Call) -> JsonObject:
        """Creates a study.

        Raises InvalidArgument if the catalogue has no such region, or the request is wrong.
        """
        where = region_of(call, self._catalogue)
        if call.parameter("studyId", "study_id"):
            said = "given; allowed: in ml v1 alone, as aiplatform numbers its studies"
            raise InvalidArgument.of((Violation("studyId", said),))
        request = replace(read_study(call.body()), learns_from=learned_from(call))
        return study_json(self._studies.create(where, request))

    def get(self, call: Call) -> JsonObject:
        return study_json(self._studies.get(study_of(call)))

    def lookup(self, call: Call) -> JsonObject:
        where = location_of(call)
        return study_json(self._studies.lookup(where, read_lookup(call.body())))

    def list(self, call: Call) -> JsonObject:
        where = location_of(call)
        asked = StudyName(where.project, where.location, "").collection
        page = self._studies.list(
            where,
            limit=PAGES.size(call.parameter("pageSize", "page_size")),
            after=parse_token(call.parameter("pageToken", "page_token"), asked),
        )
        return list_json("studies", [*map(self._form, page.items)], page.next_key, asked)

    def delete(self, call: Call) -> JsonObject:
        """Deletes a study. The answer is empty, not an operation, as VizierService's is."""
        self._studies.delete(study_of(call))
        return {}


def region_of(call: Call, catalogue: Catalogue) -> Location:
    """Returns the location in the URL. Raises InvalidArgument if the catalogue lacks the region."""
    where = location_of(call)
    if where.location not in catalogue.regions:
        said = unknown_region(where.location, catalogue)
        raise InvalidArgument.of((Violation("parent", said),))
    return where


def learned_from(call: Call) -> tuple[str, ...]:
    """Returns the earlier studies in ``learnFrom``, a parameter of ours: ids between commas."""
    ids = call.parameter("learnFrom", "learn_from") or ""
    return tuple(text for each in ids.split(",") if (text := each.strip()))


def study_of(call: Call) -> StudyName:
    """Returns the study's name. Raises InvalidArgument if its project or region is impossible."""
    here = location_of(call)
    return StudyName(here.project, here.location, call.path["study"])
