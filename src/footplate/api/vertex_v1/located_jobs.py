"""The methods that all kinds of jobs in a location share."""

from __future__ import annotations

from collections.abc import Callable, Collection

from footplate.api.job_listing import Listing
from footplate.api.json_route import Call
from footplate.api.operations import deletion
from footplate.api.vertex_v1.parents import location_of
from footplate.control.jobs import Jobs
from footplate.domain.jobs import Job
from footplate.domain.names import (
    CustomJobName,
    TrainingPipelineName,
    TuningJobName,
    unknown_region,
)
from footplate.ports.clock import Clock
from footplate.wire.filters.jobs import Vocabulary
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.queries import PAGES, VOCABULARY

Name = CustomJobName | TuningJobName | TrainingPipelineName


class LocatedJobs:
    """Handlers of jobs whose names are made of project, location and id.

    ``version`` is ``v1`` or ``v1beta1``. ``regions`` are those of the catalogue: an empty list in
    another region is refused, since its name is probably mistyped.
    """

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        kind: Callable[[str, str, str], Name],
        version: str,
        regions: Collection[str],
        vocabulary: Vocabulary = VOCABULARY,
    ) -> None:
        self._regions = regions
        self._vocabulary = vocabulary
        self._jobs = jobs
        self._clock = clock
        self._kind = kind
        self._version = version

    def get(self, call: Call) -> Job:
        return self._jobs.get(self._name(call))

    def list(self, call: Call, tell: Callable[[Call, Job], JsonObject]) -> JsonObject:
        """Returns a page of jobs. ``readMask`` is ignored: clients accept additional fields."""
        here = location_of(call)
        collection = self._kind(here.project, here.location, "").collection
        listing = Listing(collection.rpartition("/")[2], self._vocabulary, PAGES)
        answer = listing.answer(self._jobs, collection, call, tell)
        if not answer and here.location not in self._regions:
            raise unknown_region("parent", here.location, self._regions)
        return answer

    def cancel(self, call: Call) -> JsonObject:
        """Cancels a job; an ended job stays unchanged. The body is optional, and must be empty."""
        call.check_empty()
        self._jobs.cancel(self._name(call), call.caller)
        return {}

    def delete(self, call: Call) -> JsonObject:
        """Deletes a job; returns a finished operation, so that no client has to poll."""
        name = self._name(call)
        self._jobs.delete(name)
        return deletion(name, self._clock.now(), self._version)

    def _name(self, call: Call) -> Name:
        here = location_of(call)
        return self._kind(here.project, here.location, call.path["job"])
