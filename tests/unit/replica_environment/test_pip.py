"""What programs do with pip, in an environment that they can't write."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from footplate.domain.runtimes import Runtime, Slice
from footplate.replica.isolation.containment import enter_view
from footplate.replica.isolation.hidden_paths import HiddenPaths
from footplate.replica.isolation.mount_namespace import MountNamespace
from footplate.replica.isolation.spawn import SpawnFailed, spawn
from tests.support.environments import Bench, Outcome, digest, lock, make_sdist, make_wheel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
ALPHA = "version = {!r}\n"
GAMMA = "version = '3.0'\ndef main(): print('ran')\n"
INSTALL = """
import alpha, subprocess, sys
pip = {pip}
subprocess.run([*pip, "install", "--quiet", *{options}, "gamma"], check=True)
import gamma
print(alpha.version, gamma.version, flush=True)
subprocess.run([sys.executable, "-c", "import alpha; print(alpha.version)"], check=True)
subprocess.run(["gamma-run"], check=True)
subprocess.run([*pip, "uninstall", "--quiet", "--yes", "gamma", "alpha"], check=True)
subprocess.run([sys.executable, "-c", "import alpha; print(alpha.version)"], check=True)
"""


@pytest.fixture
def runtime(bench: Bench, wheels: Path) -> Runtime:
    """Alpha 1.0; the index has 2.0, too, and gamma, which requires that."""
    old = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ALPHA.format("1.0")})
    make_wheel(wheels, "alpha", "2.0", files={"alpha.py": ALPHA.format("2.0")})
    scripts = {"gamma-run": "gamma:main"}
    files = {"gamma.py": GAMMA}
    make_wheel(wheels, "gamma", "3.0", files=files, requires=["alpha>=2"], scripts=scripts)
    text = lock(old)
    bench.server.locks[digest(text)] = text
    return Runtime("9.9", PYTHON, (Slice("whole", digest(text)),))


def run(bench: Bench, outcome: Outcome, code: str, **variables: str) -> str:
    """The output of a program that sees the cache read-only, with a PYTHONUSERBASE of its own."""
    directory = bench.directory
    own = directory / "own"
    settings = {
        "PATH": os.pathsep.join([f"{own}/bin", *outcome.result["bin"], os.environ["PATH"]]),
        "PYTHONUSERBASE": str(own),
        "PIP_FIND_LINKS": bench.variables["UV_FIND_LINKS"],
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    (directory / "root").mkdir()
    view = MountNamespace(str(directory / "root"), "", "", ())
    view.hidden_paths = HiddenPaths(str(directory / "cover"), [], [], [str(bench.cache)])

    def body(ready: int) -> None:
        enter_view(view)
        os.close(ready)
        (directory / "said").write_text(outcome.run(code, **{**settings, **variables}))
        os._exit(0)

    try:
        _, status = os.waitpid(spawn(body), 0)
    except SpawnFailed as error:
        pytest.skip(str(error))
    assert status == 0
    return (directory / "said").read_text()


@pytest.mark.parametrize(
    ("pip", "options", "layered"),
    [
        ('[sys.executable, "-m", "pip"]', [], True),
        ('["pip"]', [], False),
        ('["pip"]', ["--user"], True),
    ],
)
def test_what_is_installed_is_found_first_and_can_be_removed(
    bench: Bench, runtime: Runtime, pip: str, options: list[str], *, layered: bool
) -> None:
    """By the program that runs, by its children and as a command; the runtime's own stays."""
    trainer = make_sdist(bench.directory, "trainer", files={"task.py": ""}, requires=["alpha"])
    outcome = bench.prepare(bench.make_home(runtime, *([trainer] if layered else [])))
    assert outcome.code == 0, outcome
    said = run(bench, outcome, INSTALL.format(pip=pip, options=options))
    assert said.split("\n") == ["1.0 3.0", "2.0", "ran", "1.0"]


def test_another_version_of_what_the_layer_has(bench: Bench, runtime: Runtime) -> None:
    """pip refuses that in virtual environments."""
    trainer = make_sdist(bench.directory, "trainer", files={"task.py": ""}, requires=["alpha>1"])
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    code = (
        "import pip, sys, sysconfig; before = sysconfig.get_path('include')\n"
        "assert pip.main(['install', '--quiet', 'alpha==1.0']) == 0\n"
        "import alpha; print(alpha.version, sysconfig.get_path('include') == before)"
    )
    assert run(bench, outcome, code) == "1.0 True"


@pytest.mark.parametrize("variables", [{"PYTHONUSERBASE": ""}, {"PYTHONNOUSERSITE": "1"}])
def test_nothing_is_found_where_python_does_without(
    bench: Bench, runtime: Runtime, variables: dict[str, str]
) -> None:
    outcome = bench.prepare(bench.make_home(runtime))
    code = "import sys; print([path for path in sys.path if '/own/' in path])"
    assert run(bench, outcome, code, **variables) == "[]"


def test_a_lock_that_names_pip_decides(bench: Bench, wheels: Path) -> None:
    own = make_wheel(wheels, "pip", "1.0", files={"pip.py": "print('own')\n"})
    text = lock(own)
    bench.server.locks[digest(text)] = text
    runtime = Runtime("9.9", PYTHON, (Slice("whole", digest(text)),))
    outcome = bench.prepare(bench.make_home(runtime))
    assert outcome.run("import pip") == "own"
