"""Environments as the supervisor gets them: cached, shared, layered, refused."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from footplate.domain.runtimes import Runtime, Slice
from footplate.replica.environment.cache import Cache
from footplate.replica.environment_index import EnvironmentIndex
from tests.support.disks import small_disk
from tests.support.environments import (
    BACKEND,
    Bench,
    digest,
    finish,
    lock,
    make_sdist,
    make_wheel,
)

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def make_runtime(bench: Bench, *slices: tuple[str, str, tuple[str, ...]]) -> Runtime:
    """A runtime of slices given by name, lock and the words that rule them out."""
    made = []
    for name, text, unless in slices:
        bench.server.locks[digest(text)] = text
        made.append(Slice(name, digest(text), unless))
    return Runtime("9.9", PYTHON, tuple(made))


@pytest.fixture
def runtime(bench: Bench, wheels: Path) -> Runtime:
    """Two packages, alpha and beta, and a command that says which interpreter runs it."""
    program = "import sys\ndef main(): print(sys.prefix)\n"
    alpha = make_wheel(
        wheels,
        "alpha",
        "1.0",
        files={"alpha.py": f"version = '1.0'\n{program}"},
        scripts={"alpha-where": "alpha:main"},
    )
    beta = make_wheel(wheels, "beta", "2.0", files={"beta.py": ""}, requires=["alpha"])
    return make_runtime(bench, ("whole", lock(alpha, beta), ()))


TRAINER = {"trainer/__init__.py": "", "trainer/task.py": "import alpha\nprint(alpha.version)\n"}


def test_without_packages_the_base_itself(bench: Bench, runtime: Runtime) -> None:
    outcome = bench.prepare(bench.make_home(runtime))
    assert outcome.code == 0, outcome
    assert outcome.messages[-1] == "runtime 9.9: 3 of 3 packages"
    assert outcome.run("import alpha, beta; print(alpha.version)") == "1.0"
    assert outcome.result["bin"] == [str(os.path.dirname(outcome.python))]  # noqa: PTH120


def test_the_second_start_asks_nobody(bench: Bench, wheels: Path, tmp_path: Path) -> None:
    alpha = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ""})
    unless = ("tensorflow", "keras", "tf_keras", "rich", "markdown")
    runtime = make_runtime(bench, ("part", lock(alpha), unless), ("whole", lock(alpha), ()))
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER)
    first = bench.prepare(bench.make_home(runtime, trainer))
    assert first.code == 0, first
    bench.uv = "/bin/false"
    requests = len(bench.server.requests)
    second = bench.prepare(bench.make_home(runtime, trainer))
    assert second.result == first.result
    assert second.messages == first.messages[-1:]
    assert bench.server.requests[requests:] == ["/replica/v1/packages/0"]


def test_what_builds_leave_behind_is_in_the_home(
    bench: Bench, runtime: Runtime, tmp_path: Path
) -> None:
    """uv itself leaves a lock for each build by setuptools."""
    leave = "import os, tempfile, zipfile\nopen(tempfile.gettempdir() + '/left', 'w').close()"
    backend = BACKEND.replace("import os, zipfile", leave)
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, backend=backend)
    home, scratch = bench.make_home(runtime, trainer), tmp_path / "scratch"
    scratch.mkdir()
    bench.variables["TMPDIR"] = str(scratch)
    outcome = bench.prepare(home)
    assert outcome.code == 0, outcome
    assert list(scratch.iterdir()) == []
    assert (home / "packages" / "build" / "tmp" / "left").exists()


@pytest.mark.parametrize("changed", [False, True])
def test_what_was_made_is_remembered_for_those_packages(
    bench: Bench, runtime: Runtime, tmp_path: Path, *, changed: bool
) -> None:
    """And for no others: one may be replaced after the server has looked at it."""
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER)
    home = bench.make_home(runtime, trainer)
    task = json.loads((home / "task.json").read_text())
    sha256 = hashlib.sha256(b"another" if changed else trainer.read_bytes()).hexdigest()
    task["packages"][0]["sha256"] = sha256
    (home / "task.json").write_text(json.dumps({**task, "preparation": "a" * 64}))
    outcome = bench.prepare(home)
    assert outcome.code == 0, outcome
    found = EnvironmentIndex(str(bench.cache), bench.pythons).find("a" * 64)
    assert (None if found is None else found.encode()) == (None if changed else outcome.result)


def test_a_layer_adds_and_copies_nothing(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, requires=["alpha>=1", "beta"])
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    assert outcome.code == 0, outcome
    assert outcome.run("import trainer.task") == "1.0"
    where = outcome.run("import alpha; print(alpha.__file__)")
    assert where.startswith(str(bench.cache / "runtimes"))
    layer = outcome.python.removesuffix("/bin/python")
    assert outcome.run("import subprocess; subprocess.run(['alpha-where'])") == layer
    assert not list(bench.cache.glob("layers/*/lib/*/site-packages/alpha*"))


def test_own_versions_shadow_and_say_so(
    bench: Bench, runtime: Runtime, wheels: Path, tmp_path: Path
) -> None:
    make_wheel(wheels, "alpha", "0.5", files={"alpha.py": "version = '0.5'\n"})
    trainer = make_wheel(tmp_path, "trainer", files=TRAINER, requires=["alpha<1", "beta"])
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    assert (
        "alpha 0.5 from your requirements replaces version 1.0 of runtime 9.9"
    ) in outcome.messages
    assert outcome.run("import trainer.task, beta") == "0.5"
    again = bench.prepare(bench.make_home(runtime, trainer))
    assert again.messages == [
        ("alpha 0.5 from your requirements replaces version 1.0 of runtime 9.9")
    ]


@pytest.mark.parametrize("name", ["mine-7.tar.gz", "trainer_v2.tgz", "p.tar.gz"])
def test_a_package_under_another_name(
    bench: Bench, runtime: Runtime, tmp_path: Path, name: str
) -> None:
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER)
    outcome = bench.prepare(bench.make_home(runtime, trainer, names=[name]))
    assert outcome.run("import trainer.task") == "1.0"


def test_two_packages_of_one_name(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one = make_sdist(tmp_path / "a", "trainer", files=TRAINER)
    two = make_sdist(tmp_path / "b", "extra", files={"extra.py": ""})
    home = bench.make_home(runtime, one, two, names=["p.tar.gz", "p.tar.gz"])
    outcome = bench.prepare(home)
    assert outcome.code == 0, outcome
    assert outcome.run("import trainer.task, extra") == "1.0"


def test_ten_at_once_build_one(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER)
    homes = [bench.make_home(runtime, trainer) for _ in range(10)]
    outcomes = [finish(process) for process in [bench.start(home) for home in homes]]
    assert [outcome.code for outcome in outcomes] == [0] * 10, outcomes
    assert len({outcome.python for outcome in outcomes}) == 1
    builders = [o for o in outcomes if "building trainer-0.1.tar.gz" in o.messages]
    assert len(builders) == 1
    assert len(list(bench.cache.glob("runtimes/*/complete.json"))) == 1


def of_job(job_id: str) -> dict[str, str]:
    names = ("CLOUD_ML_PROJECT_ID", "CLOUD_ML_REGION", "CLOUD_ML_JOB_ID")
    return dict(zip(names, ("demo", "us-central1", job_id), strict=True))


@pytest.mark.parametrize(
    ("job_id", "builder"),
    [("job_1", "another replica or trial of this job"), ("job_2", "another job")],
)
def test_a_build_that_was_killed_is_made_anew(
    bench: Bench, runtime: Runtime, wheels: Path, tmp_path: Path, job_id: str, builder: str
) -> None:
    """Not before the last process of the killed one is gone. The one that waits says for which."""
    begun = wheels / "begun"  # which builds see
    first = (
        "import pathlib, time\n"
        f"begun = pathlib.Path({str(begun)!r})\n"
        "if not begun.exists():\n"
        "    begun.touch()\n"
        "    time.sleep(600)\n"
    )
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, backend=first + BACKEND)
    killed = bench.start(bench.make_home(runtime, trainer, environment=of_job("job_1")))
    try:
        wait_for(begun)
        second = bench.start(bench.make_home(runtime, trainer, environment=of_job(job_id)))
        assert second.stdout is not None
        waiting = f"waiting for {builder}, which makes the environment of your packages"
        assert json.loads(second.stdout.readline()) == {"m": waiting}
        assert second.poll() is None
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    assert finish(second).run("import trainer.task") == "1.0"


def test_a_cache_that_is_reached_by_another_path(
    bench: Bench, runtime: Runtime, tmp_path: Path
) -> None:
    """Environments contain their own paths: a layer must find its base by both."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER)
    bench.cache = link
    first = bench.prepare(bench.make_home(runtime, trainer))
    assert first.run("import trainer.task") == "1.0"
    link.unlink()
    bench.cache = real
    second = bench.prepare(bench.make_home(runtime, trainer))
    assert second.result == first.result
    assert second.run("import trainer.task") == "1.0"
    real.rename(tmp_path / "moved")
    bench.cache = tmp_path / "moved"
    third = bench.prepare(bench.make_home(runtime, trainer))
    assert third.run("import trainer.task") == "1.0"


def test_a_build_makes_room_for_itself(bench: Bench, wheels: Path, runtime: Runtime) -> None:
    """The least recently used goes; what was just built stays, however small the limit is."""
    first = bench.prepare(bench.make_home(runtime))
    gamma = make_wheel(wheels, "gamma", "1.0", files={"gamma.py": ""})
    other = make_runtime(bench, ("whole", lock(gamma), ()))
    bench.cache_limit_bytes = 1
    second = bench.prepare(bench.make_home(other))
    assert second.messages[-1].startswith("removed 1 environment (")
    assert second.run("import gamma") == ""
    assert not os.path.exists(first.python)  # noqa: PTH110
    again = bench.prepare(bench.make_home(other))
    assert again.messages == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk(bench: Bench, wheels: Path, tmp_path: Path) -> None:
    """It says so, and leaves nothing behind."""
    large = make_wheel(wheels, "large", "1.0", files={"large.py": f"x = '{'x' * (3 << 20)}'"})
    runtime = make_runtime(bench, ("whole", lock(large), ()))
    with small_disk(tmp_path / "disk", "2m") as bench.cache:
        outcome = bench.prepare(bench.make_home(runtime))
        left = [found.path for found in Cache(str(bench.cache)).look()]
        used = sum(path.stat().st_size for path in bench.cache.rglob("*") if path.is_file())
    assert "runtime 9.9 can't be installed for Python" in outcome.error
    assert "the disk is full; free some space, for instance with `footplate runtimes prune`" in (
        outcome.error
    )
    assert left == []
    assert used < 100_000


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} didn't come"
        time.sleep(0.02)


def test_a_half_built_runtime_is_made_anew(bench: Bench, runtime: Runtime) -> None:
    first = bench.prepare(bench.make_home(runtime))
    (marker,) = bench.cache.glob("runtimes/*/complete.json")
    marker.unlink()
    (site,) = marker.parent.glob("lib/*/site-packages")
    (site / "alpha.py").unlink()
    second = bench.prepare(bench.make_home(runtime))
    assert second.result == first.result
    assert second.run("import alpha; print(alpha.version)") == "1.0"


def test_a_layer_whose_runtime_was_removed(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER)
    first = bench.prepare(bench.make_home(runtime, trainer))
    (marker,) = bench.cache.glob("runtimes/*/complete.json")
    marker.unlink()
    second = bench.prepare(bench.make_home(runtime, trainer))
    assert second.result == first.result
    assert second.run("import trainer.task") == "1.0"


def test_slices(bench: Bench, wheels: Path, tmp_path: Path) -> None:
    small = make_wheel(wheels, "small", files={"small.py": ""})
    large = make_wheel(wheels, "large", files={"large.py": ""})
    needy = make_wheel(wheels, "needy", files={"needy.py": ""}, requires=["large"])
    runtime = make_runtime(
        bench, ("part", lock(small), ("large",)), ("whole", lock(small, large), ())
    )
    plain = make_sdist(tmp_path, "plain", files={"plain.py": "import small\n"})
    outcome = bench.prepare(bench.make_home(runtime, plain, module="plain"))
    assert outcome.messages[-1] == (
        "installed the part part of runtime 9.9, because your code names no other package of the "
        "runtime. If the program lacks a package, name it in the code or in setup.py's "
        "install_requires. A job of Vertex AI gets the whole runtime with "
        "FOOTPLATE_RUNTIME_SLICE=full in its env"
    )
    naming = make_sdist(tmp_path, "naming", files={"naming.py": "name = 'large.module'\n"})
    outcome = bench.prepare(bench.make_home(runtime, naming, module="naming"))
    assert outcome.messages[-1] == (
        "installed the whole part of runtime 9.9, because naming.py of naming-0.1.tar.gz names "
        "large"
    )
    assert outcome.run("import large, naming") == ""
    module = bench.prepare(bench.make_home(runtime, module="large.main"))
    assert module.messages[-1] == (
        "installed the whole part of runtime 9.9, because the module to run names large"
    )
    forced = bench.make_home(runtime, environment={"FOOTPLATE_RUNTIME_SLICE": "full"})
    assert bench.prepare(forced).python == module.python
    wrong = bench.make_home(runtime, environment={"FOOTPLATE_RUNTIME_SLICE": "huge"})
    assert bench.prepare(wrong).error == (
        "FOOTPLATE_RUNTIME_SLICE is 'huge' in the job's env; allowed: full, part, whole"
    )
    indirect = make_sdist(tmp_path, "indirect", files={"i.py": ""}, requires=[needy.name[:5]])
    outcome = bench.prepare(bench.make_home(runtime, indirect, module="i"))
    assert outcome.messages[-1].endswith("the requirements of your packages names large")
    assert not list(bench.cache.glob("layers/*/lib/*/site-packages/large*"))


def test_builds_for_the_cpu_that_nobody_has(bench: Bench, wheels: Path) -> None:
    plain = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ""})
    local = f"alpha==1.0+cpu --hash=sha256:{'0' * 64}\n"
    runtime = make_runtime(bench, ("cpu", local, ()), ("cuda", lock(plain), ()))
    fallback = Slice("cuda", digest(lock(plain)), fallback=True)
    runtime = Runtime("9.9", PYTHON, (runtime.cpu[0], fallback))
    outcome = bench.prepare(bench.make_home(runtime))
    assert outcome.code == 0, outcome
    assert ("runtime 9.9: this machine's package indexes don't have alpha==1.0+cpu") in (
        outcome.messages
    )
    assert "UV_FIND_LINKS" in outcome.messages[-1]
    only = bench.prepare(bench.make_home(Runtime("9.9", PYTHON, runtime.cpu[:1])))
    assert "runtime 9.9: cpu: " in only.error
    assert only.error.endswith("don't have alpha==1.0+cpu")


def test_stand_ins(bench: Bench, wheels: Path, tmp_path: Path) -> None:
    real = make_wheel(wheels, "tensorflow-cpu", "2.5", files={"tensorflow/__init__.py": "n = 2"})
    runtime = make_runtime(bench, ("whole", lock(real), ()))
    trainer = make_sdist(
        tmp_path,
        "trainer",
        files={"t.py": ""},
        requires=["tensorflow>=2,<3", "tensorflow-gpu==2.4.0"],
    )
    outcome = bench.prepare(bench.make_home(runtime, trainer, module="t"))
    assert outcome.code == 0, outcome
    assert (
        "TensorFlow of runtime 9.9 satisfies the requirement tensorflow-gpu==2.4.0 of "
        "trainer-0.1.tar.gz"
    ) in outcome.messages
    version = "from importlib.metadata import version; import tensorflow; "
    assert outcome.run(f"{version}print(version('tensorflow'), tensorflow.n)") == "2.5 2"


@pytest.mark.parametrize(
    ("requires", "words"),
    [
        (
            ["alpha==7"],
            ("the requirement alpha==7 of trainer-0.1.tar.gz is not available for Python 3."),
        ),
        (
            ["nowhere"],
            ("the requirement nowhere of trainer-0.1.tar.gz is not available for Python 3."),
        ),
        (
            ["alpha<1", "alpha>1"],
            "a requirement of trainer-0.1.tar.gz is not available for Python 3.",
        ),
    ],
)
def test_requirements_that_nobody_has(
    bench: Bench, runtime: Runtime, tmp_path: Path, requires: list[str], words: str
) -> None:
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, requires=requires)
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    assert outcome.code == 1
    assert words in outcome.error
    assert "another version of the package, or another runtime version" in outcome.error
    assert not list(bench.cache.glob("layers/*/"))


def test_an_old_pin_without_wheels(
    bench: Bench, runtime: Runtime, wheels: Path, tmp_path: Path
) -> None:
    old = make_wheel(wheels, "old", "1.0")
    old.rename(wheels / "old-1.0-cp27-cp27m-manylinux1_x86_64.whl")
    make_sdist(wheels, "source", "1.0", backend="raise SystemExit('no longer works')\n")
    for requirement in ("old==1.0", "source==1.0"):
        trainer = make_sdist(tmp_path, "trainer", files=TRAINER, requires=[requirement])
        outcome = bench.prepare(bench.make_home(runtime, trainer))
        assert f"the requirement {requirement} of trainer-0.1.tar.gz" in outcome.error
        assert f"Python {PYTHON}." in outcome.error
        assert "another runtime version" in outcome.error


def test_a_package_that_does_not_build(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    backend = "print('so far so good')\nraise RuntimeError('no compiler')\n"
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, backend=backend)
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    assert outcome.error.startswith(f"the build of trainer-0.1.tar.gz for Python {PYTHON}")
    assert outcome.error.endswith("RuntimeError: no compiler")


def test_nothing_is_built_from_a_hostile_archive(
    bench: Bench, runtime: Runtime, tmp_path: Path
) -> None:
    (tmp_path / "trainer-0.1.tar.gz").write_text("no archive")
    outcome = bench.prepare(bench.make_home(runtime, tmp_path / "trainer-0.1.tar.gz"))
    assert "the package trainer-0.1.tar.gz is broken, or not an archive" in outcome.error
    for name in ("../evil.tar.gz", "..", "", "a/b.tar.gz"):
        home = bench.make_home(runtime, tmp_path / "trainer-0.1.tar.gz", names=[name])
        if name:
            assert "isn't the name of a file" in bench.prepare(home).error
    assert not (tmp_path / "evil.tar.gz").exists()


def test_a_package_that_is_gone(bench: Bench, runtime: Runtime) -> None:
    home = bench.make_home(runtime, names=["trainer.tar.gz"])
    assert bench.prepare(home).error.startswith("trainer.tar.gz can't be fetched: HTTP 404")


def test_an_interpreter_that_is_not_there(bench: Bench, runtime: Runtime) -> None:
    bench.variables["UV_PYTHON_DOWNLOADS"] = "never"
    outcome = bench.prepare(bench.make_home(Runtime("0.9", "2.6", runtime.cpu)))
    assert outcome.error.startswith("Python 2.6, which runtime 0.9 needs, isn't on this machine")
    assert "python2.6 on PATH" in outcome.error
    assert "another runtime version" in outcome.error


def test_a_lock_that_is_another(bench: Bench, runtime: Runtime) -> None:
    sha256 = runtime.cpu[0].lock_sha256
    bench.server.locks[sha256] += "# changed\n"
    assert "another list of pinned packages" in bench.prepare(bench.make_home(runtime)).error


def test_a_wheel_that_is_not_the_locked_one(bench: Bench, runtime: Runtime, wheels: Path) -> None:
    make_wheel(wheels, "alpha", "1.0", files={"alpha.py": "evil = 1"})
    outcome = bench.prepare(bench.make_home(runtime))
    assert outcome.error.startswith("runtime 9.9 can't be installed")
    assert "ash mismatch" in outcome.error


def test_the_server_may_be_away_for_a_while(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    home = bench.make_home(runtime)
    address = bench.server.file.read_text()
    bench.server.file.write_text(json.dumps({"url": "http://127.0.0.1:9"}))
    process = bench.start(home)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline()) == {"m": "waiting for the server"}
    bench.server.file.write_text(address)
    assert finish(process).code == 0


def test_a_task_that_makes_no_sense(bench: Bench, runtime: Runtime) -> None:
    home = bench.make_home(runtime)
    (home / "task.json").write_text('{"runtime": {"name": "x"}}')
    assert "program is missing" in bench.prepare(home).error


def test_builds_with_what_setuptools_lost(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    """It is tried again under a constraint to an older setuptools."""
    first = "import os\nif 'UV_BUILD_CONSTRAINT' not in os.environ:\n    import pkg_resources\n"
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, backend=first + BACKEND)
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    assert outcome.run("import trainer.task") == "1.0"


def test_a_check_resolves_and_installs_nothing(
    bench: Bench, runtime: Runtime, wheels: Path, tmp_path: Path
) -> None:
    make_wheel(wheels, "gamma", "3.0")
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, requires=["gamma>2", "alpha"])

    checked = bench.check(bench.make_home(runtime, trainer))

    assert (checked.code, checked.result) == (0, {"added": ["gamma==3.0"]})
    assert not list((tmp_path / "cache").glob("layers/*/bin"))


def test_a_check_fails_with_the_sentence_of_the_replica(
    bench: Bench, runtime: Runtime, tmp_path: Path
) -> None:
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, requires=["absent>=2"])

    checked = bench.check(bench.make_home(runtime, trainer))
    prepared = bench.prepare(bench.make_home(runtime, trainer))

    assert checked.code == prepared.code == 1
    assert checked.error == prepared.error
    assert "the requirement absent of trainer-0.1.tar.gz is not available" in checked.error


def test_a_check_does_not_resolve_again_what_is_installed(
    bench: Bench, runtime: Runtime, wheels: Path, tmp_path: Path
) -> None:
    gamma = make_wheel(wheels, "gamma", "3.0")
    trainer = make_sdist(tmp_path, "trainer", files=TRAINER, requires=["gamma"])
    assert bench.prepare(bench.make_home(runtime, trainer)).code == 0
    gamma.unlink()

    checked = bench.check(bench.make_home(runtime, trainer))

    assert (checked.code, checked.result) == (0, {"added": []})
