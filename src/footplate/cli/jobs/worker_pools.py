"""``--worker-pool-spec``: checked as gcloud does, and turned into worker pools of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.jobs.options import LOCAL_KEYS
from footplate.cli.option_values import enum_name
from footplate.domain.errors import InvalidArgument
from footplate.domain.reduction import is_image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.wire.json_text import JsonObject

_SOFTWARE = ("container-image-uri", "executor-image-uri", "python-module", *LOCAL_KEYS)


def check_pools(pools: Sequence[dict[str, str]]) -> None:
    """Raises InvalidArgument if a key of a pool is wrong or missing, and names the key."""
    if not pools[0]:
        raise _wrong("the first pool can't be empty: it has the primary replica")
    for pool in pools:
        if pool:
            _check_machine(pool)
    local = "local-package-path" in pools[0]
    _check_software(pools[0])
    for pool in pools[1:]:
        if local and not is_image(pool.get("container-image-uri", "")):
            _check_same_software(pool, pools[0])
        elif "local-package-path" in pool:
            raise _wrong("only the first pool may have local-package-path")
        if pool and not local:
            _check_software(pool)


def make_pool(
    pool: dict[str, str],
    package_uris: Sequence[str],
    module: str | None = None,
    image: str = "",
    built: str | None = None,
) -> JsonObject:
    """Returns a WorkerPoolSpec; {} for a pool that is left out.

    Local code runs by ``module`` and ``image``, or in an image that was ``built``.
    """
    if not pool:
        return {}
    machine: JsonObject = {"machineType": pool["machine-type"]}
    if "accelerator-type" in pool:
        machine["acceleratorType"] = enum_name(pool["accelerator-type"])
        machine["acceleratorCount"] = _whole(pool, "accelerator-count", 1)
    made: JsonObject = {
        "machineSpec": machine,
        "replicaCount": str(_whole(pool, "replica-count", 1)),
    }
    if disk := _disk(pool):
        made["diskSpec"] = disk
    if "container-image-uri" in pool:
        made["containerSpec"] = {"imageUri": pool["container-image-uri"]}
    elif built is not None:
        made["containerSpec"] = {"imageUri": built}
    else:
        made["pythonPackageSpec"] = {
            "executorImageUri": image or pool["executor-image-uri"],
            "packageUris": list(package_uris),
            "pythonModule": module or pool["python-module"],
        }
    return made


def _disk(pool: dict[str, str]) -> JsonObject:
    disk: JsonObject = {}
    if "boot-disk-type" in pool:
        disk["bootDiskType"] = pool["boot-disk-type"]
    if "boot-disk-size" in pool:
        disk["bootDiskSizeGb"] = _whole(pool, "boot-disk-size", 100)
    return disk


def _check_machine(pool: dict[str, str]) -> None:
    if "machine-type" not in pool:
        raise _wrong("machine-type is missing")
    if "accelerator-count" in pool and "accelerator-type" not in pool:
        raise _wrong("accelerator-count requires accelerator-type")
    for key in ("replica-count", "accelerator-count", "boot-disk-size"):
        _whole(pool, key, 1)


def _check_software(pool: dict[str, str]) -> None:
    if "local-package-path" in pool:
        if "executor-image-uri" not in pool:
            raise _wrong("local-package-path requires executor-image-uri")
        if ("python-module" in pool) == ("script" in pool):
            raise _wrong("local-package-path requires either python-module or script")
        return
    if ("executor-image-uri" in pool) == ("container-image-uri" in pool):
        raise _wrong("give either executor-image-uri or container-image-uri")
    if "container-image-uri" in pool and "python-module" in pool:
        raise _wrong(
            "python-module can't be combined with container-image-uri, because the image "
            "contains the program"
        )
    if "executor-image-uri" in pool and "python-module" not in pool:
        raise _wrong("executor-image-uri requires python-module")
    if unexpected := [key for key in LOCAL_KEYS if key in pool]:
        raise _wrong(f"{', '.join(unexpected)}: allowed only with local-package-path")


def _check_same_software(pool: dict[str, str], first: dict[str, str]) -> None:
    """Checks a pool's software, which may only repeat that of the first pool.

    gcloud takes none of these keys there. Only this service runs a Reduction Server beside a local
    package.
    """
    for key in ("local-package-path", *_SOFTWARE):
        if key in pool and pool[key] != first.get(key):
            known = f"{key}={first[key]}" if key in first else f"no {key}"
            raise _wrong(
                f"{key}={pool[key]} given in another pool, but the first pool has {known}. All "
                "pools, except one with Reduction Server's image, run the first pool's local "
                "package: leave the key out"
            )


def _whole(pool: dict[str, str], key: str, default: int) -> int:
    text = pool.get(key, str(default))
    if not (text.isascii() and text.isdigit()):
        raise _wrong(f"{key}={text!r}; allowed: a whole number")
    return int(text)


def _wrong(message: str) -> InvalidArgument:
    return InvalidArgument(f"--worker-pool-spec: {message}")
