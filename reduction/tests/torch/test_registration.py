"""What is known after an import."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from footplate.testing.service import outside

from reduction.tests.torch.ranks import ROOT

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


def test_or_the_module_is_imported_in_any_order(torch_python: Path) -> None:
    text = (
        "import footplate_reduction.torch as f, torch.distributed as d\n"
        "f.register()\n"
        "from footplate_reduction.torch import ddp_hook as gradients\n"
        "print(d.Backend.backend_list.count('footplate'), callable(f.hook))"
    )
    assert printed(torch_python, text) == "1 True\n"


def test_a_pytorch_that_cannot_run_the_backend_is_told_what_to_call(tmp_path: Path) -> None:
    module = tmp_path / "torch" / "distributed.py"
    module.parent.mkdir()
    (module.parent / "__init__.py").touch()
    module.write_text(
        "def is_available():\n    return True\nclass ProcessGroup:\n    pass\n"
        "class Backend:\n    backend_list = []\n    @classmethod\n"
        "    def register_backend(cls, name, func, extended_api=False, devices=None):\n"
        "        cls.backend_list.append(name)\n        cls.make = func\n"
    )
    text = (
        "import footplate_reduction.torch as r, torch.distributed as d\n"
        "print(d.Backend.backend_list)\n"
        "try:\n    d.Backend.make(None)\nexcept r.ReductionError as error:\n    print(error)\n"
    )
    known, warning = printed(sys.executable, text, tmp_path).splitlines()
    assert known == "['footplate']"
    assert "footplate_reduction.torch.attach(model)" in warning


@pytest.mark.parametrize(
    ("body", "parameters"),
    [("", "name, func"), ("backend_list = []", "name, func, extended_api=False")],
    ids=["PyTorch 1.12", "PyTorch 2.0"],
)
def test_where_pytorch_takes_no_such_backend_the_line_can_still_be_imported(
    tmp_path: Path, body: str, parameters: str
) -> None:
    """With the signatures of those versions: an error there would end trainers of their images."""
    module = tmp_path / "torch" / "distributed.py"
    module.parent.mkdir()
    (module.parent / "__init__.py").touch()
    module.write_text(
        f"def is_available():\n    return True\nclass Backend:\n    {body}\n"
        f"    @classmethod\n    def register_backend(cls, {parameters}):\n        assert False\n"
    )
    text = "import footplate_reduction.torch as r; print(callable(r.attach))"
    assert printed(sys.executable, text, tmp_path) == "True\n"
