"""``projects.locations.studies`` of aiplatform v1: the studies of Vizier."""

from __future__ import annotations

from dataclasses import replace

from footplate.api.json_route import Call
from footplate.api.vertex_v1.parents import location_of
from footplate.control.vizier import Studies
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.machines import unknown_region
from footplate.domain.names import StudyName
from footplate.wire.json_text import JsonObject
from footplate.wire.paging import list_json, parse_token
from footplate.wire.vertex_v1.queries import PAGES
from footplate.wire.vertex_v1.vizier_requests import read_lookup, read_study
from footplate.wire.vertex_v1.vizier_responses import study_json


class StudiesApi:
    """The handlers of studies, one for each API method."""

    def __init__(self, studies: Studies, catalogue: Catalogue) -> None:
        self._studies = studies
        self._catalogue = catalogue

    def create(self, call: Call) -> JsonObject:
        """Creates a study. ``learnFrom`` is Footplate's own: ids of earlier studies, separated by
        commas.

        Raises InvalidArgument if the catalogue has no such region, or the request is wrong.
        """
        where = location_of(call)
        if where.location not in self._catalogue.regions:
            said = unknown_region(where.location, self._catalogue)
            raise InvalidArgument.of((Violation("parent", said),))
        ids = call.parameter("learnFrom", "learn_from") or ""
        learns_from = tuple(text for each in ids.split(",") if (text := each.strip()))
        request = replace(read_study(call.body()), learns_from=learns_from)
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
        return list_json("studies", [*map(study_json, page.items)], page.next_key, asked)

    def delete(self, call: Call) -> JsonObject:
        """Deletes a study. The answer is empty, not an operation, as VizierService's is."""
        self._studies.delete(study_of(call))
        return {}


def study_of(call: Call) -> StudyName:
    """Returns the study's name. Raises InvalidArgument if its project or region is impossible."""
    here = location_of(call)
    return StudyName(here.project, here.location, call.path["study"])
