"""Adds what a Pod needs where its container is an image of the user's: a Python that comes along.

An init container of the region's image copies its Python into a volume, with which the container
starts; nothing of the image is needed for that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from footplate.containers.registry import ImageConfig

COPIER = "footplate-python"
"""The init container, and its volume."""
COPY_PROGRAM = "python_copy.py"
FOLDER = "/footplate"
PYTHON = f"{FOLDER}/bin/python3"
BUCKETS = "/gcs"
_BUCKETS_VOLUME = "footplate-gcs"
IMAGE, SCRATCH = "FOOTPLATE_IMAGE", "FOOTPLATE_SCRATCH"
LOADER_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LC_CTYPE")
"""What our Python must not have of an image; its program gets them."""
FILE_MODE = 0o444
"""The mode of the launchers' program: an image's user may be anybody."""


def read_copy_program() -> str:
    source = resources.files("footplate") / "replica" / "launcher" / COPY_PROGRAM
    return source.read_text()


def describe(image: ImageConfig) -> dict[str, Any]:
    """Returns the facts about the image that the supervisor reads."""
    variables = dict(
        str(pair).partition("=")[::2] for pair in image.config.get("Env") or () if "=" in str(pair)
    )
    config = {name: image.config.get(name) for name in ("Entrypoint", "Cmd", "WorkingDir")}
    return {
        "reference": image.reference,
        "architecture": image.architecture,
        "config": config,
        "loader": {n: variables[n] for n in LOADER_VARIABLES if n in variables},
    }


def variables(image: ImageConfig) -> list[dict[str, Any]]:
    """Returns the variables that describe the image.

    Dollars are doubled, since Kubernetes replaces ``$(NAME)`` in values.
    """
    text = json.dumps(describe(image)).replace("$", "$$")
    return [
        {"name": IMAGE, "value": text},
        {"name": SCRATCH, "value": f"{FOLDER}/scratch"},
        {"name": "LD_LIBRARY_PATH", "value": f"{FOLDER}/lib"},
        *({"name": name, "value": ""} for name in LOADER_VARIABLES[1:]),
    ]


def mounts() -> list[dict[str, Any]]:
    return [
        {"name": COPIER, "mountPath": FOLDER},
        {"name": _BUCKETS_VOLUME, "mountPath": BUCKETS},
    ]


def volumes() -> list[dict[str, Any]]:
    return [{"name": COPIER, "emptyDir": {}}, {"name": _BUCKETS_VOLUME, "emptyDir": {}}]


def make_copier(
    container: Mapping[str, Any], image: str, python: str, program: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the init container that copies Python. It keeps fields of the template's
    ``container``.

    ``program`` is the mount of the Secret.
    """
    kept = ("imagePullPolicy", "securityContext", "env", "envFrom", "resources")
    return {
        **{name: container[name] for name in kept if name in container},
        "image": image,
        "name": COPIER,
        "command": [python, "-I", f"{program['mountPath']}/{COPY_PROGRAM}", FOLDER],
        "volumeMounts": [dict(program), mounts()[0]],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
