"""Lists of jobs, the same for all APIs but for their field names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from footplate.api.json_route import Call
from footplate.control.jobs import Jobs
from footplate.domain.jobs import Job
from footplate.wire.filters.jobs import Vocabulary, parse_filter
from footplate.wire.json_text import JsonObject
from footplate.wire.list_order import parse_order
from footplate.wire.paging import PageRule, list_json, parse_token


@dataclass(frozen=True)
class Listing:
    """The form in which an API lists jobs: the name of the list, its filters, its pages."""

    field: str
    vocabulary: Vocabulary
    pages: PageRule

    def answer(
        self,
        jobs: Jobs,
        collection: str,
        call: Call,
        encode: Callable[[Call, Job], JsonObject],
    ) -> JsonObject:
        """Returns one page of ``collection``; {} for a page without jobs."""
        text = call.parameter("filter") or ""
        order = call.parameter("orderBy", "order_by") or ""
        asked = f"{collection}?{text}" + (f"&{order}" if order else "")
        page = jobs.list(
            collection,
            where=parse_filter(text, self.vocabulary),
            limit=self.pages.size(call.parameter("pageSize", "page_size")),
            after=parse_token(call.parameter("pageToken", "page_token"), asked),
            order=parse_order(order, self.vocabulary.fields),
        )
        found = [encode(call, job) for job in page.jobs]
        return list_json(self.field, found, page.next_key, asked)
