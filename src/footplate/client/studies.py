"""Client of Vizier studies."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.domain.names import StudyName, parse_study_name

if TYPE_CHECKING:
    from footplate.client.http_client import Connection
    from footplate.wire.json_text import JsonObject


class Studies:
    """``/v1/projects/{project}/locations/{location}/studies``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self, project: str, location: str, display_name: str, spec: JsonObject
    ) -> tuple[StudyName, JsonObject]:
        """Its name, and the answer itself. One of the same name and spec is found, not made.

        Raises:
            AlreadyExists: there is one of this name, and of another spec.
        """
        body: JsonObject = {"displayName": display_name, "studySpec": spec}
        answer = self._connection.call("POST", _collection(project, location), body=body)
        return parse_study_name(str(answer.get("name"))), answer

    def lookup(self, project: str, location: str, display_name: str) -> StudyName:
        """Raises NotFound."""
        path = f"{_collection(project, location)}:lookup"
        answer = self._connection.call("POST", path, body={"displayName": display_name})
        return parse_study_name(str(answer.get("name")))

    def add_trial(self, name: StudyName, trial: JsonObject) -> None:
        self._connection.call("POST", f"{_path(name)}/trials", body=trial)

    def delete(self, name: StudyName) -> None:
        self._connection.call("DELETE", _path(name))


def _collection(project: str, location: str) -> str:
    return f"/v1/{quote(StudyName(project, location, '').collection)}"


def _path(name: StudyName) -> str:
    return f"/v1/{quote(str(name))}"
