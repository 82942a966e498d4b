"""Small rules: uv's words, slices, names, scripts, settings, progress."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from footplate.protocol.task import PythonTask, Runtime, Slice, Task
from footplate.replica.environment import uv_errors
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.install_plan import read_changes
from footplate.replica.environment.installed_distributions import name_of, read_requirements
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.layers import adopt_scripts, format_header
from footplate.replica.environment.progress_output import ProgressOutput
from footplate.replica.environment.runtime_slices import Words, choose
from footplate.replica.environment.task import EnvironmentTask
from footplate.replica.environment.uv import Uv, translate_settings

NO_WHEELS = """\
Using Python 3.11.7 environment at: vt
error: No solution found when resolving dependencies
  cause: Because tensorflow==1.15.0 has no wheels with a matching Python ABI tag (e.g., `cp311`) and trainer==0.1 depends on tensorflow==1.15.0, we can conclude that trainer==0.1 cannot be used.
         And because only trainer==0.1 is available, your requirements are unsatisfiable.

hint: You require CPython 3.11 (`cp311`), but we only found wheels for `tensorflow`
"""  # noqa: E501
NO_WHEELS_OLD_STYLE = """\
  \u00d7 No solution found when resolving dependencies:
  \u2570\u2500\u25b6 Because there is no version of numpy==9 and you require numpy==9, we can
      conclude that your requirements are unsatisfiable.
"""
NO_BUILD = """\
Resolved 1 package in 72ms
   Building scikit-learn==0.20.4
error: Failed to build `scikit-learn==0.20.4`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.get_requires_for_build_wheel` failed

         [stderr]
         Traceback (most recent call last):
           File "<string>", line 12, in <module>
                            ^^^^^^^^
         ModuleNotFoundError: No module named 'numpy'

hint: This error likely indicates that
"""


def test_reads_what_is_missing() -> None:
    assert uv_errors.find_missing(NO_WHEELS) == "tensorflow==1.15.0"
    assert uv_errors.find_missing(NO_WHEELS_OLD_STYLE) == "numpy==9"
    assert uv_errors.find_missing(NO_BUILD) == "scikit-learn==0.20.4"
    assert uv_errors.find_missing("error: Failed to fetch") == ""
    assert uv_errors.is_unavailable(NO_WHEELS_OLD_STYLE)
    assert not uv_errors.is_unavailable(NO_BUILD)


def test_reads_the_reason() -> None:
    assert uv_errors.reason(NO_WHEELS).startswith("Because tensorflow==1.15.0 has no wheels")
    assert uv_errors.reason(NO_WHEELS).endswith("we can conclude that trainer==0.1 cannot be used")
    assert uv_errors.reason(NO_WHEELS_OLD_STYLE) == (
        "Because there is no version of numpy==9 and you require numpy==9"
    )
    assert uv_errors.reason("no error at all\n") == "no error at all"


def test_reads_the_last_words_of_a_build() -> None:
    assert uv_errors.build_output(NO_BUILD) == "ModuleNotFoundError: No module named 'numpy'"


def test_explains() -> None:
    said = uv_errors.build_output(NO_BUILD)
    assert uv_errors.explain_build(NO_BUILD) == said
    assert uv_errors.explain(NO_BUILD) == f"scikit-learn==0.20.4 doesn't build: {said}"
    assert uv_errors.explain(NO_WHEELS) == uv_errors.reason(NO_WHEELS)
    fault = "copying a.py\nerror: Failed to build `x.tar.gz`\n  cause: There is no setup.py\n"
    assert uv_errors.explain_build(fault) == "Failed to build `x.tar.gz`: There is no setup.py"


def test_reads_plans() -> None:
    output = """\
Would install 3 packages
 - numpy==2.4.6
 + numpy==1.26.4
 + six @ https://example.org/six-1.17.0-py2.py3-none-any.whl
 + trainer==0.1 (from file:///home/a%20b/trainer-0.1-py3-none-any.whl)
"""
    changes = list(read_changes(output))
    assert [(c.added, c.name, c.requirement) for c in changes] == [
        (False, "numpy", "numpy==2.4.6"),
        (True, "numpy", "numpy==1.26.4"),
        (True, "six", "six @ https://example.org/six-1.17.0-py2.py3-none-any.whl"),
        (
            True,
            "trainer",
            "trainer @ file:///home/a%20b/trainer-0.1-py3-none-any.whl",
        ),
    ]


def make_slice(name: str, *unless: str, fallback: bool = False) -> Slice:
    return Slice(name, name, unless, fallback)


SLICES = [
    make_slice("small", "tensorflow", "keras", "tf_keras"),
    make_slice("full"),
    make_slice("other", fallback=True),
]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import sklearn", "small"),
        ("import tensorflow", "full"),
        ("import tensorflow as tf", "full"),
        ("importlib.import_module('tensorflow.keras')", "full"),
        ("import tensorflow_datasets", "full"),
        ("import tf_keras", "full"),
        ("import keras_tuner", "full"),
        ("TENSORFLOWING = nontensorflow", "small"),
        ("", "small"),
    ],
)
def test_chooses_by_words(text: str, name: str) -> None:
    words = Words({"tensorflow", "keras", "tf_keras"})
    words.see(text, "task.py")
    choice = choose(SLICES, words, "")
    assert choice.slice.name == name
    assert [piece.name for piece in choice.fallbacks] == (["other"] if name == "full" else [])
    assert "FOOTPLATE_RUNTIME_SLICE=full" in choice.reason or "task.py names" in choice.reason


def test_the_whole_runtime_is_explained_where_it_has_a_smaller_part() -> None:
    words = Words(())
    assert choose(SLICES, words, "full").reason == (
        "the job runs a command, or the job's env has FOOTPLATE_RUNTIME_SLICE=full"
    )
    assert (
        choose(SLICES, words, "small").reason == "the job's env has FOOTPLATE_RUNTIME_SLICE=small"
    )
    assert choose([make_slice("one")], words, "full").reason == ""


def test_only_sources_are_read() -> None:
    for name, name_of_slice in [
        ("p/trainer/task.py", "full"),
        ("p/requirements.txt", "full"),
        ("p/README.md", "small"),
        ("p/trainer.egg-info/requires.txt", "small"),
        ("p/data.bin", "small"),
    ]:
        words = Words({"tensorflow"})
        words.see_file("p.tar.gz", name, io.BytesIO(b"\xff tensorflow"))
        assert choose(SLICES, words, "").slice.name == name_of_slice


def test_requirements_count() -> None:
    words = Words({"tensorflow", "tf_keras"})
    words.see_requirement("tf-keras", "p.tar.gz")
    assert choose(SLICES, words, "").reason == "p.tar.gz names tf_keras"


def test_a_slice_can_be_forced() -> None:
    words = Words({"tensorflow"})
    assert choose(SLICES, words, "full").slice.name == "full"
    assert choose(SLICES, words, "SMALL").slice.name == "small"
    with pytest.raises(PreparationError, match="allowed: full, small, full"):
        choose(SLICES, words, "other")


def test_reads_requirements() -> None:
    metadata = """\
Name: p
Requires-Dist: Numpy_Financial[x]>=1
Requires-Dist: pytest ; extra == 'test'
Requires-Dist: old ; python_version < "3.8"

Requires-Dist: not-a-header
"""
    found = list(read_requirements(metadata))
    assert [name_of(requirement) for requirement in found] == ["numpy-financial", "old"]


def make_task(*, gpus: bool, **variants: tuple[Slice, ...]) -> EnvironmentTask:
    return EnvironmentTask(
        Task(PythonTask("m"), runtime=Runtime("2.21", "3.11", variants), gpus=gpus)
    )


def test_gpus() -> None:
    cpu, gpu = (make_slice("cpu"),), (make_slice("gpu"),)
    both = {"cpu": cpu, "gpu": gpu}
    assert make_task(gpus=False, **both).choose_slices()[0][0].name == "cpu"
    assert make_task(gpus=True, **both).choose_slices()[0][0].name == "gpu"
    slices, note = make_task(gpus=True, cpu=cpu).choose_slices()
    assert slices[0].name == "cpu"
    assert note == "runtime 2.21 is for the CPU: programs in it can't use a GPU"
    with pytest.raises(PreparationError):
        make_task(gpus=False).choose_slices()


def test_pip_settings_hold_for_uv() -> None:
    translated = translate_settings(
        {
            "PIP_INDEX_URL": "https://a/simple",
            "PIP_EXTRA_INDEX_URL": "https://b/simple\nhttps://c/simple",
            "PIP_FIND_LINKS": "/x /y",
            "VIRTUAL_ENV": "/v",
            "SSL_CERT_FILE": "/s",
        }
    )
    assert translated["UV_DEFAULT_INDEX"] == "https://a/simple"
    assert translated["UV_INDEX"] == "https://b/simple https://c/simple"
    assert translated["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert translated["UV_FIND_LINKS"] == "/x,/y"
    assert translated["SSL_CERT_FILE"] == "/s"
    assert "VIRTUAL_ENV" not in translated
    own = {"UV_DEFAULT_INDEX": "u", "UV_INDEX": "v", "UV_FIND_LINKS": "w"}
    pip = {"PIP_INDEX_URL": "a", "PIP_EXTRA_INDEX_URL": "b", "PIP_FIND_LINKS": "c"}
    assert translate_settings({**own, **pip}).items() >= own.items()
    assert "UV_INDEX_STRATEGY" not in translate_settings({**own, **pip})


@pytest.mark.parametrize("name", ["short", "long" * 60, "with space"])
def test_scripts_run_with_the_layer(tmp_path: Path, name: str) -> None:
    base, layer = tmp_path / "base", tmp_path / name
    for directory in (base, layer):
        directory.mkdir()
    (layer / "python").symlink_to(sys.executable)
    body = b"import sys\nprint(sys.argv[1:])\n"
    short = base / "short"
    short.write_bytes(b"#!" + os.fsencode(base / "python") + b"\n" + body)
    long = base / "long"
    quoted = os.fsencode(base / "python")
    long.write_bytes(b"#!/bin/sh\n'''exec' '" + quoted + b"' \"$0\" \"$@\"\n' '''\n" + body)
    (base / "binary").write_bytes(b"\x7fELF" + quoted)
    (base / "activate").write_text("export X\n")
    (base / "python").symlink_to(sys.executable)
    for path in (short, long):
        path.chmod(0o755)
    (layer / "kept").write_text("mine")
    (base / "kept").write_bytes(short.read_bytes())
    adopt_scripts(str(base), str(layer))
    assert sorted(p.name for p in layer.iterdir()) == ["kept", "long", "python", "short"]
    assert (layer / "kept").read_text() == "mine"
    for script in ("short", "long"):
        assert subprocess.check_output([layer / script, "a b"], text=True) == "['a b']\n"
    assert format_header("/p/python") == b"#!/p/python\n"


def test_counts_are_told_once_a_second() -> None:
    said: list[Mapping[str, object]] = []
    times = iter([1.0, 1.5, 2.5, 2.6, 2.7])
    progress = ProgressOutput(said.append, lambda: next(times)).count("runtime 2.21")
    for done in (1, 2, 3, 4, 5):
        progress(done, 5)
    assert [value["m"] for value in said] == [
        f"runtime 2.21: {done} of 5 packages" for done in (1, 3, 5)
    ]


class Nothing(Uv):
    """A uv that has no Python of its own."""

    def run(self, arguments: object, variables: object = None) -> str:
        return "warning: nothing\n"


def make_interpreter(path: Path, version: str, implementation: str = "cpython") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    described = (
        f'{{"path": "{path}", "version": "{version}", "implementation": "{implementation}", '
        '"platform": "linux", "abi": "x"}'
    )
    path.write_text(f"#!/bin/sh\necho run >> {path}.runs\necho '{described}'\n")
    path.chmod(0o755)
    return path


def search(tmp_path: Path, *globs: str) -> Interpreters:
    host = {"PATH": f"{tmp_path}/shims:{tmp_path}/bin:relative", "HOME": str(tmp_path)}
    uv = Nothing("/bin/true", {})
    return Interpreters(globs, host, str(tmp_path / "cache"), uv)


def test_interpreters_are_looked_for_in_order(tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"Python 3\.7, which runtime 1\.15 needs, isn't on"):
        search(tmp_path).find("3.7", "runtime 1.15")
    shim = tmp_path / "shims" / "python3.7"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\necho not installed >&2\nexit 127\n")
    shim.chmod(0o755)
    for version in ("3.7.9", "3.7.16", "3.8.1"):
        make_interpreter(tmp_path / ".pyenv" / "versions" / version / "bin" / "python", version)
    assert search(tmp_path).find("3.7", "it").version == "3.7.16"
    make_interpreter(tmp_path / "opt" / "python", "3.8.0")
    make_interpreter(tmp_path / "opt" / "python-pypy", "3.7.1", "pypy")
    given = make_interpreter(tmp_path / "opt" / "python3", "3.7.2")
    found = search(tmp_path, f"{tmp_path}/opt/python*").find("3.7", "it")
    assert found.path == str(given)
    with pytest.raises(PreparationError, match=r"needs, isn't on this machine"):
        search(tmp_path).find("3.70", "it")


def test_a_real_interpreter_is_run_once(tmp_path: Path) -> None:
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    base = os.path.realpath(f"{sys.base_prefix}/bin/python{minor}")
    first = search(tmp_path, base).find(minor, "it")
    assert first.path == base
    (remembered,) = (tmp_path / "cache" / "interpreters").iterdir()
    remembered.write_text(remembered.read_text().replace('"cpython"', '"remembered"'))
    with pytest.raises(PreparationError):
        search(tmp_path, base).find(minor, "it")
