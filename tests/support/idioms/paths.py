"""Programs that take the directory for a path below /gcs. They need nothing but Python."""

from __future__ import annotations

import os
import pathlib
import shutil

ROOT = os.environ["IDIOMS_ROOT"]


def case_open_below_gcs() -> None:
    folder = ROOT.replace("gs://", "/gcs/") + "/open_below_gcs"
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model"), "w") as file:
        file.write("m")
    assert os.listdir(folder) == ["model"]


def case_pathlib_below_gcs() -> None:
    path = pathlib.Path("/gcs", *ROOT.split("/")[2:], "pathlib_below_gcs", "a b")
    path.parent.mkdir(parents=True)
    path.write_text("m")
    assert path.stat().st_size == 1


def case_shutil_below_gcs() -> None:
    os.makedirs("saved/deep")
    pathlib.Path("saved/deep/model").write_text("m")
    folder = ROOT.replace("gs://", "/gcs/") + "/shutil_below_gcs"
    shutil.copytree("saved", folder)
    assert os.path.getsize(folder + "/deep/model") == 1
