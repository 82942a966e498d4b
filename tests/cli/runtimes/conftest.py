"""The command line on a machine of its own: one small runtime, from a folder of wheels."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from footplate.cli.main import main
from tests.support.environments import lock, make_wheel

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
OWN = f"""\
[runtimes.small]
python = "{PYTHON}"
versions = ["9.9"]
images = ["tf-cpu.9-9.py{PYTHON.replace(".", "")}"]
[[runtimes.small.cpu]]
name = "part"
lock = "part.txt"
unless = ["beta"]
[[runtimes.small.cpu]]
name = "whole"
lock = "whole.txt"
[runtimes.broken]
python = "{PYTHON}"
versions = ["9.8"]
[[runtimes.broken.cpu]]
name = "whole"
lock = "broken.txt"
[runtimes.ancient]
python = "2.6"
versions = ["9.7"]
[[runtimes.ancient.cpu]]
name = "whole"
lock = "whole.txt"
"""


@dataclass
class Machine:
    """``variables``: of the commands that run on it."""

    data_dir: Path
    variables: Mapping[str, str]

    @property
    def cache(self) -> Path:
        return self.data_dir / "cache"

    def invoke(self, *words: str) -> Result:
        result = CliRunner().invoke(main, ("runtimes", *words), env=dict(self.variables))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    alpha = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": f"x = '{'x' * 99_000}'\n"})
    beta = make_wheel(wheels, "beta", "2.0", files={"beta.py": ""})
    (tmp_path / "part.txt").write_text(lock(alpha))
    (tmp_path / "whole.txt").write_text(lock(alpha, beta))
    (tmp_path / "broken.txt").write_text(f"nowhere==1 --hash=sha256:{'0' * 64}\n")
    (tmp_path / "own.toml").write_text(OWN)
    variables = {
        "FOOTPLATE_DATA_DIR": str(tmp_path / "data"),
        "FOOTPLATE_CATALOGUE": str(tmp_path / "own.toml"),
        "FOOTPLATE_PYTHONS": f"{sys.base_prefix}/bin/python3",
        "UV_FIND_LINKS": str(wheels),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(tmp_path / "uv-cache"),
        "UV_PYTHON_DOWNLOADS": "never",
    }
    return Machine(tmp_path / "data", variables)
