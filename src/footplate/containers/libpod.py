"""A container in the words of Podman's own API: its Docker API ignores device requests."""

from __future__ import annotations

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

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
