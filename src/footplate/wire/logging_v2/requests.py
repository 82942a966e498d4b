"""The request for a list of entries."""

import re

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import describe
from footplate.wire.scalars import Int32, Text

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1000
MAX_PROJECTS = 100
_PROJECT = re.compile(r"projects/([^/]+)(?:/.*)?")
_ORDERS = {"": False, "timestamp": False, "timestamp asc": False, "timestamp desc": True}


class ListEntriesRequest(JsonModel):
    """The request ``entries.list``; ``projectIds`` is the older way of naming projects."""

    resource_names: list[Text] | None = None
    project_ids: list[Text] | None = None
    filter: Text = ""
    order_by: Text = ""
    page_size: Int32 = 0
    page_token: Text = ""

    @property
    def projects(self) -> tuple[str, ...]:
        """Returns the requested projects, each once.

        Raises:
            InvalidArgument: none is named, too many are, or something other than a project.
        """
        projects: dict[str, None] = dict.fromkeys(self.project_ids or ())
        for name in self.resource_names or ():
            match = _PROJECT.fullmatch(name)
            if match is None:
                raise _wrong("resourceNames", name, "projects/PROJECT")
            projects[str(match.group(1))] = None
        if not 0 < len(projects) <= MAX_PROJECTS:
            raise _wrong("resourceNames", sorted(projects), f"1 to {MAX_PROJECTS} projects")
        return tuple(projects)

    @property
    def descending(self) -> bool:
        """Returns whether the newest come first. Raises InvalidArgument: an order not by time."""
        try:
            return _ORDERS[" ".join(self.order_by.lower().split())]
        except KeyError:
            raise _wrong("orderBy", self.order_by, "timestamp asc, timestamp desc") from None

    @property
    def limit(self) -> int:
        """Returns the size of a page. Raises InvalidArgument: the given size is negative."""
        if self.page_size < 0:
            raise _wrong("pageSize", self.page_size, f"0 to {MAX_PAGE_SIZE}")
        return min(self.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)

    @property
    def listing(self) -> str:
        """Returns a text that identifies the list, to which page tokens are bound."""
        return f"{' '.join(self.projects)}?{self.descending}?{self.filter}"


def _wrong(field: str, given: object, allowed: str) -> InvalidArgument:
    description = f"{describe(given)} given; allowed: {allowed}"
    return InvalidArgument.of((Violation(field, description),))
