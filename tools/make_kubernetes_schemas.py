"""Extracts the fields of Kubernetes' objects from wheels of its Python client.

Each release of the client is generated from the OpenAPI of one version of Kubernetes: 30.1.0 from
that of 1.30. Run it after ``pip download --no-deps kubernetes==VERSION``:

    python tools/make_kubernetes_schemas.py WHEEL...
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "tests" / "unit" / "backends" / "kubernetes" / "schemas"
KINDS = (
    *("V1Pod", "V1Secret", "V1ConfigMap", "V1PersistentVolumeClaim", "V1Service", "V1StatefulSet"),
    *("V1ServiceAccount", "V1Role", "V1RoleBinding", "V1ClusterRole", "V1ClusterRoleBinding"),
)
_REQUIRED = re.compile(r"Invalid value for `(\w+)`, must not be `None`")
_NAME = re.compile(r"\b[A-Z]\w+\b")


def read_model(text: str) -> dict[str, Any]:
    """Returns the types of a model's fields by their names in JSON, and the fields it needs."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in ("openapi_types", "attribute_map"):
                found[name] = ast.literal_eval(node.value)
    names = found["attribute_map"]
    return {
        "fields": {names[field]: kind for field, kind in found["openapi_types"].items()},
        "required": sorted({names[field] for field in _REQUIRED.findall(text)}),
    }


def read_wheel(path: Path) -> dict[str, Any]:
    """Returns the models of a wheel that objects of ``KINDS`` are made of."""
    with zipfile.ZipFile(path) as archive:
        files = [n for n in archive.namelist() if n.startswith("kubernetes/client/models/")]
        texts = [archive.read(name).decode() for name in files]
    classes = {m.group(1): t for t in texts if (m := re.search(r"^class (\w+)", t, re.MULTILINE))}
    found: dict[str, Any] = {}
    open_kinds = list(KINDS)
    while open_kinds:
        kind = open_kinds.pop()
        if kind not in found and kind in classes:
            found[kind] = read_model(classes[kind])
            open_kinds += [n for t in found[kind]["fields"].values() for n in _NAME.findall(t)]
    return {kind: found[kind] for kind in sorted(found)}


def main(paths: list[str]) -> None:
    for path in map(Path, paths):
        major = path.name.split("-")[1].split(".")[0]
        file = FOLDER / f"1.{major}.json"
        file.parent.mkdir(exist_ok=True)
        lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in read_wheel(path).items())
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
