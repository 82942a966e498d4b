"""``projects.getConfig`` of ml v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound
from footplate.domain.names import check_project

if TYPE_CHECKING:
    from footplate.api.json_route import Call
    from footplate.wire.json_text import JsonObject


class TrainingProjects:
    def config(self, call: Call) -> JsonObject:
        """``getConfig``: the account that jobs run as, which isn't one of Google's."""
        project = call.path["project"]
        check_project(project)
        return {
            "serviceAccount": f"footplate@{project}.invalid",
            "serviceAccountProject": "0",
            "config": {},
        }

    def operations(self, call: Call) -> JsonObject:
        """Nothing that training does here is a long-running operation."""
        check_project(call.path["project"])
        return {}

    def operation(self, call: Call) -> JsonObject:
        """Also for ``:cancel``: no operation exists."""
        check_project(call.path["project"])
        name = f"projects/{call.path['project']}/operations/{call.path['operation']}"
        raise NotFound(f"there is no operation {name[:300]!r}")
