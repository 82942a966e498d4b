"""Client of the container engine's Docker API, over its Unix socket.

Paths have no version, so that each engine takes them as its newest one.
"""

from __future__ import annotations

import json
import socket
from contextlib import suppress

from footplate.http1 import Client

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Iterator, Mapping


TIMEOUT_S = 30.0
_BODY_LIMIT_BYTES = 16 << 20
NOT_FOUND = 404


class EngineGone(OSError):
    """The engine doesn't answer, or its answer makes no sense."""


class EngineError(Exception):
    """The engine refused a request. ``status`` is the HTTP status; the message is the engine's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Engine:
    """A client of a container engine that sends blocking requests, each on its own connection."""

    def __init__(self, path: str, timeout_s: float | None = TIMEOUT_S) -> None:
        """Creates a client. ``path`` is that of the engine's socket; ``timeout_s`` None means no
        timeout.
        """
        self.path = path
        self._timeout_s = timeout_s

    def identify(self) -> str:
        """Returns ``Podman 4.3.1`` or ``Docker 20.10.24``; by a ping, as Podman's own version
        takes a second.
        """
        with self._client() as client:
            server = client.request("GET", "/_ping").field("server")
        name, _, version = server.partition(" ")[0].partition("/")
        return f"{'Podman' if name == 'Libpod' else 'Docker'} {version}".strip()

    def create(self, name: str, spec: dict[str, Any], first_id: int = 0, id_count: int = 0) -> None:
        """Creates a container. Raises EngineError, EngineGone, as all other methods do.

        ``first_id`` is this machine's user that is the image's root, the first of ``id_count`` ids.
        """
        if first_id or cdi_devices(spec):
            body = translate(name, spec, first_id, id_count)
            self.call("POST", CREATE, body)
        else:
            self.call("POST", f"/containers/create?name={name}", spec)

    def find_runtime(self, name: str) -> str:
        """Returns the OCI runtime of a container of Podman."""
        return str(self.call("GET", INSPECT.format(name)).get("OCIRuntime") or "")

    def start(self, name: str) -> None:
        self.call("POST", f"/containers/{name}/start")

    def inspect(self, name: str) -> dict[str, Any]:
        return self.call("GET", f"/containers/{name}/json")

    def signal(self, name: str, signal: str) -> None:
        self.call("POST", f"/containers/{name}/kill?signal={signal}")

    def remove(self, name: str) -> None:
        """Kills a container, and removes it with its anonymous volumes; ignores a missing one.

        Without the kill, Podman would give the program ten seconds to end by itself.
        """
        with suppress(EngineError):  # it doesn't run
            self.signal(name, "KILL")
        try:
            self.call("DELETE", f"/containers/{name}?force=true&v=true")
        except EngineError as error:
            if error.status != NOT_FOUND:
                raise

    def list_containers(self, label: str) -> list[tuple[str, dict[str, str]]]:
        """Returns the ids and the labels of all containers with ``label`` (``NAME=VALUE``)."""
        filters = _quote(json.dumps({"label": [label]}))
        content = self._fetch("GET", f"/containers/json?all=1&filters={filters}", None)
        try:
            found = json.loads(content)
            return [(str(each["Id"]), dict(each.get("Labels") or {})) for each in found]
        except (ValueError, KeyError, TypeError) as error:
            raise EngineGone(
                f"the container engine at {self.path} sends a list of containers that can't be read"
            ) from error

    def inspect_image(self, reference: str) -> dict[str, Any] | None:
        """Returns the engine's description of an image; None if it has no such image."""
        try:
            return self.call("GET", f"/images/{_quote(reference)}/json")
        except EngineError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def load_image(self, archive: bytes) -> None:
        """Loads a tar archive in the form that ``docker save`` writes."""
        self._fetch("POST", "/images/load?quiet=1", archive)

    def has_home(self, name: str, user: str) -> bool:
        """Returns whether ``user`` of the container's /etc/passwd has an existing home."""
        try:
            packed = self._fetch("GET", f"/containers/{name}/archive?path=/etc/passwd", None)
            home = _find_home(packed, user.partition(":")[0])
            if home in ("", "/"):
                return False
            self._fetch("HEAD", f"/containers/{name}/archive?path={_quote(home)}", None)
        except EngineError:
            return False
        return True

    def attach(self, name: str) -> Attachment:
        """Returns the output of a container that is about to start."""
        path = f"/containers/{name}/attach?stream=1&stdout=1&stderr=1"
        return Attachment(*self.upgrade(path, None), multiplexed=True)

    def upgrade(self, path: str, body: dict[str, Any] | None) -> tuple[socket.socket, bytes]:
        """Returns a connection that is now a byte stream, and the bytes already received."""
        sent = None if body is None else json.dumps(body).encode()
        with self._client() as client:
            answer = client.request("POST", path, sent, "Connection: Upgrade", "Upgrade: tcp")
            if answer.status not in (101, 200):
                raise EngineError(answer.status, _message(answer.read()))
            connection, early = client.detach(answer)
        connection.settimeout(None)
        return connection, early

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Returns the JSON object of the answer; empty if it is none.

        Raises:
            EngineError: the engine refuses the request, with its reason.
            EngineGone: there is no engine, or it doesn't answer.
        """
        sent = None if body is None else json.dumps(body).encode()
        content = self._fetch(method, path, sent)
        try:
            value = json.loads(content or b"{}")
        except ValueError as error:
            raise EngineGone(
                f"the container engine at {self.path} answers {method} {path}, but not with JSON"
            ) from error
        return value if isinstance(value, dict) else {}

    def stream(self, path: str, body: bytes | None, *fields: str) -> Iterator[dict[str, Any]]:
        """Yields the JSON objects that the engine answers to a POST, as they arrive; errors are
        objects too.

        Raises EngineGone.
        """
        with self._client() as client:
            answer = client.request("POST", path, body, *fields)
            if answer.status >= 400:
                yield {"error": _message(answer.read())}
                return
            rest = b""
            for piece in answer.pieces():
                *lines, rest = (rest + piece).split(b"\n")
                yield from _parse_objects(lines)
            yield from _parse_objects([rest])

    def _fetch(self, method: str, path: str, sent: bytes | None) -> bytes:
        """Returns the body of the answer. Raises EngineError, EngineGone."""
        with self._client() as client:
            answer = client.request(method, path, sent)
            content = answer.read()
        if answer.status >= 400:
            raise EngineError(answer.status, _message(content))
        return content

    def _client(self) -> Client:
        """Returns a client for one request; it raises EngineGone if the engine is silent."""
        return Client(
            self._connect,
            lambda _, error: EngineGone(f"{self.path}: {error}"),
            limit_bytes=_BODY_LIMIT_BYTES,
        )

    def _connect(self) -> tuple[socket.socket, str]:
        """Returns a connection to the engine's socket, and a host name. Raises OSError."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(self._timeout_s)
            connection.connect(self.path)
        except BaseException:
            connection.close()
            raise
        return connection, "engine"


class Attachment:
    """The output of a container: pieces of its stdout (1) and stderr (2), in their order."""

    def __init__(self, connection: socket.socket, early: bytes, *, multiplexed: bool) -> None:
        self._connection = connection
        self._buffer = early
        self._multiplexed = multiplexed

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def has_early(self) -> bool:
        """Returns whether bytes have arrived that the socket doesn't show any more."""
        return bool(self._buffer)

    def read(self) -> list[tuple[int, bytes]] | None:
        """Returns the next pieces; None at the end. Blocks until there are some."""
        data, self._buffer = self._buffer, b""
        if not data:
            try:
                data = self._connection.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
        return self._split(data) if self._multiplexed else [(1, data)]

    def _split(self, data: bytes) -> list[tuple[int, bytes]]:
        """Splits frames: the stream's number, three zeros, four bytes of length, the piece."""
        pieces: list[tuple[int, bytes]] = []
        while data:
            while len(data) < 8:
                data += self._receive_rest(8 - len(data))
            stream, size = data[0], int.from_bytes(data[4:8], "big")
            piece, data = data[8 : 8 + size], data[8 + size :]
            pieces.append((stream, piece))
            missing = size - len(piece)
            while missing:
                pieces.append((stream, self._receive_rest(missing)))
                missing -= len(pieces[-1][1])
        return pieces

    def _receive_rest(self, size: int) -> bytes:
        """Receives some bytes of an incomplete frame. Raises EngineGone if they don't arrive."""
        try:
            data = self._connection.recv(min(size, 65536))
        except OSError as error:
            raise EngineGone(f"the connection to the container's output broke: {error}") from error
        if not data:
            raise EngineGone(
                "the connection to the container's output ended before the container did"
            )
        return data

    def close(self) -> None:
        self._connection.close()


def _parse_objects(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    """Yields the lines that are JSON objects."""
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _message(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    message = value.get("message") or value.get("cause") if isinstance(value, dict) else None
    return str(message or text or "no reason given").strip()[:1000]


def _find_home(packed: bytes, user: str) -> str:
    """Returns the home of ``user`` (a name or a number) in a tar archive of /etc/passwd."""
    for line in packed[512:].split(b"\0", 1)[0].decode("utf-8", "replace").splitlines():
        fields = line.split(":")
        if len(fields) > 5 and user in (fields[0], fields[2]):
            return fields[5]
    return ""


def _quote(path: str) -> str:
    safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~:@"
    return "".join(c if c in safe else "".join(f"%{b:02X}" for b in c.encode()) for c in path)


CREATE = "/v4.0.0/libpod/containers/create"
INSPECT = "/v4.0.0/libpod/containers/{}/json"
_PERIOD_US = 100_000


def cdi_devices(spec: Mapping[str, Any]) -> list[str]:
    """Returns the names of devices (CDI) that ``spec``, a body of the Docker API, requests."""
    requests = spec["HostConfig"].get("DeviceRequests") or ()
    wanted = [request for request in requests if request.get("Driver") == "cdi"]
    return [name for request in wanted for name in request["DeviceIDs"]]


def translate(
    name: str, spec: Mapping[str, Any], first_id: int = 0, ids: int = 0
) -> dict[str, Any]:
    """Returns ``spec`` as a SpecGenerator, for the parts of the Docker API that ``spec.compose``
    uses.

    ``first_id`` is this machine's user that is the image's root, the first of ``ids`` ids.
    """
    host = spec["HostConfig"]
    options = host.get("SecurityOpt") or ()
    return {
        "name": name,
        "image": spec["Image"],
        **_command(spec),
        "env": dict(entry.split("=", 1) for entry in spec["Env"]),
        "labels": spec["Labels"],
        "mounts": [_mount(mount, mapped=bool(first_id)) for mount in host["Mounts"]],
        **_map_users(first_id, ids),
        "netns": {"nsmode": host["NetworkMode"]},
        "log_configuration": {"driver": host["LogConfig"]["Type"]},
        "ipcns": {"nsmode": host.get("IpcMode") or "private"},
        "shm_size": host["ShmSize"],
        "cap_drop": host["CapDrop"],
        "no_new_privileges": "no-new-privileges" in options,
        "selinux_opts": ["disable"] if "label=disable" in options else [],
        "oom_score_adj": host["OomScoreAdj"],
        "resource_limits": _limits(host),
        "devices": [{"path": device} for device in cdi_devices(spec)],
    }


def _command(spec: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns the given parts of the command; those of the image replace missing ones."""
    given = {"entrypoint": spec.get("Entrypoint"), "command": spec.get("Cmd")}
    return {key: words for key, words in given.items() if words is not None}


def _map_users(first_id: int, ids: int) -> dict[str, Any]:
    if not first_id:
        return {}
    part = [{"container_id": 0, "host_id": first_id, "size": ids}]
    return {"userns": {"nsmode": "private"}, "idmappings": {"UIDMap": part, "GIDMap": part}}


def _mount(mount: Mapping[str, Any], *, mapped: bool) -> dict[str, Any]:
    access = "ro" if mount["ReadOnly"] else "rw"
    return {
        "type": mount["Type"],
        "source": mount["Source"],
        "destination": mount["Target"],
        "options": ["rbind", access, *(["idmap"] if mapped else [])],
    }


def _limits(host: Mapping[str, Any]) -> dict[str, Any]:
    if "Memory" not in host:
        return {}
    quota = host["NanoCpus"] * _PERIOD_US // 10**9
    return {
        "memory": {"limit": host["Memory"], "swap": host["MemorySwap"]},
        "cpu": {"quota": quota, "period": _PERIOD_US},
        "pids": {"limit": host["PidsLimit"]},
    }
