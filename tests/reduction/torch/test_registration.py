"""What is known after an import."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from tests.reduction.torch.ranks import ROOT

from footplate.testing.service import outside

if TYPE_CHECKING:
    from pathlib import Path

DISTRIBUTION = ROOT / "reduction"


def printed(python: Path | str, text: str, *path: Path) -> str:
    folders = os.pathsep.join(map(str, (DISTRIBUTION / "src", *path)))
    done = subprocess.run(
        (python, "-c", text),
        env=outside(os.environ) | {"PYTHONPATH": folders},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_itself_imports_no_torch() -> None:
    text = (
        "import sys, footplate_reduction, footplate_reduction.client; print('torch' in sys.modules)"
    )
    assert printed(sys.executable, text) == "False\n"


@pytest.mark.slow
@pytest.mark.xdist_group("reduction-torch")
def test_pytorch_finds_the_backend_where_the_distribution_is_installed(
    torch_python: Path, tmp_path: Path
) -> None:
    project = tomllib.loads((DISTRIBUTION / "pyproject.toml").read_text())["project"]
    ((name, target),) = project["entry-points"]["torch.backends"].items()
    installed = tmp_path / "footplate_reduction-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: footplate-reduction\nVersion: 0\n")
    (installed / "entry_points.txt").write_text(f"[torch.backends]\n{name} = {target}\n")
    text = "import torch.distributed as d; print('footplate' in d.Backend.backend_list)"
    assert printed(torch_python, text, tmp_path) == "True\n"


@pytest.mark.slow
@pytest.mark.xdist_group("reduction-torch")
def test_or_the_module_is_imported_in_any_order(torch_python: Path) -> None:
    text = (
        "import footplate_reduction.torch as f, torch.distributed as d\n"
        "f.register()\n"
        "from footplate_reduction.torch import gradients\n"
        "print(d.Backend.backend_list.count('footplate'), callable(f.hook))"
    )
    assert printed(torch_python, text) == "1 True\n"
