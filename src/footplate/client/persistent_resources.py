"""Client of persistent resources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from footplate.client.http_client import Connection
from footplate.domain.names import PersistentResourceName
from footplate.wire.json_text import JsonObject


@dataclass(frozen=True)
class PersistentResources:
    """The client of ``/v1/projects/{project}/locations/{location}/persistentResources``."""

    _connection: Connection

    def create(self, name: PersistentResourceName, resource: JsonObject) -> str:
        """Creates the resource. Returns why it waits for its machines; '' if it doesn't wait.

        Raises AlreadyExists, InvalidArgument.
        """
        params = {"persistentResourceId": name.resource_id}
        operation = self._connection.call("POST", _collection(name), params=params, body=resource)
        metadata = operation.get("metadata")
        return str(metadata.get("progressMessage", "")) if isinstance(metadata, dict) else ""

    def get(self, name: PersistentResourceName) -> JsonObject:
        """Returns the resource. Raises NotFound."""
        return self._connection.call("GET", _path(name))

    def list(
        self, project: str, location: str, page_size: int | None = None
    ) -> Iterator[JsonObject]:
        """Yields those of a region."""
        path = _collection(PersistentResourceName(project, location, ""))
        params = {} if page_size is None else {"pageSize": str(page_size)}
        return self._connection.list(path, "persistentResources", params)

    def reboot(self, name: PersistentResourceName) -> None:
        """Reboots the resource. Raises NotFound, FailedPrecondition."""
        self._connection.call("POST", f"{_path(name)}:reboot", body={})

    def delete(self, name: PersistentResourceName) -> None:
        """Cancels the resource's jobs, and deletes it when they have ended.

        Raises NotFound, FailedPrecondition.
        """
        self._connection.call("DELETE", _path(name))


def _collection(name: PersistentResourceName) -> str:
    return f"/v1/{quote(name.collection)}"


def _path(name: PersistentResourceName) -> str:
    return f"/v1/{quote(str(name))}"
