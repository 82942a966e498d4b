"""The framework of a runtime is a constraint on what a user's packages bring."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from footplate.domain.runtimes import Runtime, Slice
from footplate.replica.environment.install_plan import Change
from footplate.replica.environment.layer_resolution import (
    Frameworks,
    describe_sizes,
    find_mismatched,
    pinned_version,
    read_sizes,
)
from tests.support.environments import Bench, Outcome, digest, lock, make_sdist, make_wheel

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def make_torch(wheels: Path, version: str, *requires: str) -> Path:
    code = {"torch/__init__.py": f"version = '{version}'\n"}
    return make_wheel(wheels, "torch", version, files=code, requires=requires)


def make_vision(wheels: Path, version: str) -> Path:
    """For torch 2.<minor>."""
    minor = int(version.split(".")[1]) - 15
    code = {"torchvision/__init__.py": f"version = '{version}'\n"}
    requires = [f"torch==2.{minor}.0", "numpy"]
    return make_wheel(wheels, "torchvision", version, files=code, requires=requires)


@pytest.fixture
def runtime(bench: Bench, wheels: Path) -> Runtime:
    """PyTorch's build for the CPU; newer and older ones for CUDA are in the index."""
    torch = make_torch(wheels, "2.13.0+cpu", "numpy>=1.20")
    numpy = make_wheel(wheels, "numpy", "2.1.0", files={"numpy.py": ""})
    for version in ("2.4.1", "2.13.0", "2.14.0"):
        make_torch(wheels, version)
    for version in ("0.28.0", "0.29.0"):
        make_vision(wheels, version)
    return make_runtime(bench, lock(torch, numpy))


def make_runtime(bench: Bench, text: str) -> Runtime:
    bench.server.locks[digest(text)] = text
    return Runtime("PyTorch 9", PYTHON, (Slice("whole", digest(text)),))


def prepare(bench: Bench, runtime: Runtime, tmp_path: Path, *requires: str) -> Outcome:
    trainer = make_sdist(tmp_path, "trainer", files={"trainer.py": ""}, requires=requires)
    return bench.prepare(bench.make_home(runtime, trainer, module="trainer"))


VERSIONS = "import torch, torchvision; print(torch.version, torchvision.version)"


def test_a_companion_comes_in_the_build_of_the_runtimes_torch(
    bench: Bench, runtime: Runtime, wheels: Path, tmp_path: Path
) -> None:
    make_vision(wheels, "0.28.0+cpu")
    for number, requires in enumerate((["torchvision"], ["torch", "torchvision"])):
        (tmp_path / str(number)).mkdir()
        outcome = prepare(bench, runtime, tmp_path / str(number), *requires)
        assert outcome.code == 0, outcome
        assert outcome.run(VERSIONS) == "2.13.0+cpu 0.28.0+cpu"
        assert "PyTorch 9" not in " ".join(outcome.messages[-1:])


def test_a_companion_of_another_build_is_refused(
    bench: Bench, runtime: Runtime, tmp_path: Path
) -> None:
    outcome = prepare(bench, runtime, tmp_path, "torchvision")
    assert outcome.error.startswith(
        "trainer-0.1.tar.gz requires torchvision, but the build torchvision 0.28.0 doesn't work "
        "with torch 2.13.0+cpu of runtime PyTorch 9, and this machine's package indexes don't have "
        "torchvision==0.28.0+cpu ("
    )
    assert outcome.error.endswith(
        "UV_FIND_LINKS=FOLDER or UV_INDEX=ADDRESS of an index that has it"
    )


@pytest.mark.parametrize(
    ("requirement", "blamed", "wanted"),
    [
        ("torch<2.5", "the requirement torch<2.5 of trainer-0.1.tar.gz doesn't fit", "2.4.1"),
        ("torch>=2.14", "the requirement torch>=2.14 of trainer-0.1.tar.gz doesn't fit", "2.14.0"),
        ("torchvision>=0.29", "a requirement of trainer-0.1.tar.gz (Because", "2.14.0"),
    ],
)
def test_nothing_replaces_a_framework_unasked(
    bench: Bench, runtime: Runtime, tmp_path: Path, requirement: str, blamed: str, wanted: str
) -> None:
    outcome = prepare(bench, runtime, tmp_path, requirement)
    assert outcome.error.startswith(blamed)
    assert " torch 2.13.0+cpu of runtime PyTorch 9; " in outcome.error
    assert f"require torch=={wanted} in your package" in outcome.error


def test_a_pin_replaces_a_framework(bench: Bench, runtime: Runtime, tmp_path: Path) -> None:
    outcome = prepare(bench, runtime, tmp_path, "torch==2.4.1")
    assert outcome.code == 0, outcome
    assert (
        "torch 2.4.1 from your requirements replaces version 2.13.0+cpu of runtime PyTorch 9"
    ) in (outcome.messages)
    assert outcome.run("import torch; print(torch.version)") == "2.4.1"


def test_a_pin_that_the_runtime_fulfils_replaces_nothing(
    bench: Bench, runtime: Runtime, tmp_path: Path
) -> None:
    outcome = prepare(bench, runtime, tmp_path, "torch==2.13.0", "torch==2.4.1; sys_platform=='x'")
    assert outcome.code == 0, outcome
    assert outcome.run("import torch; print(torch.version)") == "2.13.0+cpu"


def test_a_pinned_framework_brings_what_it_does_not_name(
    bench: Bench, wheels: Path, tmp_path: Path
) -> None:
    """TensorFlow 2.8.0 takes any protobuf, and works with none from 3.21 on."""
    new = make_wheel(
        wheels, "tensorflow-cpu", "2.12.1", files={"tensorflow.py": ""}, requires=["protobuf>=3.20"]
    )
    protobuf = make_wheel(wheels, "protobuf", "4.25.0", files={"protobuf.py": "n = 4"})
    make_wheel(wheels, "protobuf", "3.20.3", files={"protobuf.py": "n = 3"})
    make_wheel(wheels, "tensorflow", "2.8.0", files={"tensorflow.py": ""}, requires=["protobuf"])
    runtime = make_runtime(bench, lock(new, protobuf))
    outcome = prepare(bench, runtime, tmp_path, "tensorflow==2.8.0")
    assert outcome.code == 0, outcome
    assert outcome.run("import protobuf; print(protobuf.n)") == "3"


def test_what_a_framework_requires_stays(bench: Bench, wheels: Path, tmp_path: Path) -> None:
    torch = make_torch(wheels, "2.1.0+cpu")
    numpy = make_wheel(wheels, "numpy", "1.26.0", files={"numpy.py": "n = 1"})
    make_wheel(wheels, "numpy", "2.1.0", files={"numpy.py": "n = 2"})
    make_wheel(wheels, "tables", "1.0", requires=["numpy"])
    make_wheel(wheels, "tables", "2.0", requires=["numpy>=2"])
    runtime = make_runtime(bench, lock(torch, numpy))
    outcome = prepare(bench, runtime, tmp_path, "tables")
    assert outcome.run("import numpy; print(numpy.n)") == "1"
    (tmp_path / "pinned").mkdir()
    outcome = prepare(bench, runtime, tmp_path / "pinned", "tables==2.0")
    assert outcome.run("import numpy; print(numpy.n)") == "2"
    assert "your requirements don't fit those of torch 2.1.0+cpu (PyTorch 9)" in outcome.messages


@contextmanager
def index(*packages: Path, size_bytes: int) -> Iterator[str]:
    """A package index that says that each file is so large."""
    by_name = {path.name.split("-")[0]: path for path in packages}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").split("/")[-1]
            file = next((path for path in packages if path.name == name), None)
            listed = by_name.get(name)
            body = b""
            if file is not None:
                body = file.read_bytes()
            elif listed is not None:
                content = listed.read_bytes()
                entry = {
                    "filename": listed.name,
                    "url": f"/{listed.name}",
                    "size": size_bytes,
                    "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
                }
                found = {"meta": {"api-version": "1.1"}, "name": name, "files": [entry]}
                body = json.dumps(found).encode()
            self.send_response(200 if body else 404)
            if listed is not None and file is None:
                self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

        do_HEAD = do_GET  # noqa: N815  http.server looks for this name

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_nothing_downloads_gigabytes_unasked(bench: Bench, wheels: Path, tmp_path: Path) -> None:
    alpha = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ""})
    runtime = make_runtime(bench, lock(alpha))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lightning = make_wheel(elsewhere, "lightning", "1.0", requires=["torch", "alpha"])
    torch = make_torch(elsewhere, "2.14.0", "cudnn")
    cudnn = make_wheel(elsewhere, "cudnn", "9.0", files={"cudnn.py": ""})
    with index(lightning, torch, cudnn, size_bytes=600_000_000) as address:
        del bench.variables["UV_NO_INDEX"], bench.variables["UV_OFFLINE"]
        bench.variables["UV_DEFAULT_INDEX"] = address
        refused = prepare(bench, runtime, tmp_path, "lightning==1.0")
        (tmp_path / "pinned").mkdir()
        pinned = prepare(bench, runtime, tmp_path / "pinned", "lightning", "torch==2.14.0")
    assert refused.error == (
        "trainer-0.1.tar.gz needs a download of 1.2 GB (cudnn 0.6 GB, torch 0.6 GB); "
        "above 1 GB the service downloads only pinned requirements: require "
        "torch==2.14.0 in your package (or where your script lists requirements), or take a "
        "runtime that has torch"
    )
    assert pinned.code == 0, pinned
    assert (
        "your packages: the service downloads 1.8 GB (cudnn 0.6 GB, lightning 0.6 GB, torch 0.6 GB)"
    ) in pinned.messages


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("torch==2.4.1", "2.4.1"),
        ("torch[extra] (== 2.4.1) ; python_version > '3'", "2.4.1"),
        ("torch===2.4.1+cpu", "2.4.1+cpu"),
        ("torch==2.4.*", "2.4.*"),
        ("torch @ https://example.com/t.whl", "torch @ https://example.com/t.whl"),
        ("torch", ""),
        ("torch>=2", ""),
        ("torch==2.4.1,!=2.4.2", ""),
        ("torch~=2.4.0", ""),
    ],
)
def test_reads_pins(requirement: str, version: str) -> None:
    assert pinned_version(requirement) == version


def test_one_pin_of_a_family_frees_all_of_it() -> None:
    installed = {"tensorflow": "2.12.1", "tensorflow-cpu": "2.12.1", "torch": "2.1.0", "six": "1"}
    frameworks = Frameworks(installed, ["TensorFlow==2.8.0", "six==2"])
    assert frameworks.pinned == {"tensorflow": "TensorFlow==2.8.0"}
    assert frameworks.keep_all() == ["tensorflow==2.12.1", "tensorflow-cpu==2.12.1", "torch==2.1.0"]
    assert frameworks.keep_unpinned() == ["torch==2.1.0"]
    assert frameworks.limits(pinned=False) == ["numpy<2"]
    assert frameworks.limits(pinned=True) == ["numpy<2", "protobuf<3.21", "numpy<1.24"]
    assert Frameworks({"tensorflow": "1.15.5"}, []).limits(pinned=False) == []


def test_builds_fit_by_their_local_version() -> None:
    changes = [Change("+", "torchvision", v, "") for v in ("0.28.0", "0.28.0+cpu", "0.28.0+cu130")]
    changes += [Change("-", "torch", "2.0", ""), Change("+", "six", "1.0", "")]
    assert [c.version for c in find_mismatched(changes, "cpu")] == ["0.28.0", "0.28.0+cu130"]


def test_reads_sizes() -> None:
    text = """
[[packages]]
name = "Torch"
version = "2.0"
sdist = { url = "https://x/t.tar.gz", size = 9, hashes = {} }
wheels = [{ url = "https://x/a.whl", size = 5, hashes = {} },
    { url = "https://x/b.whl", size = 7, hashes = {} }]

[[packages]]
name = "six"
sdist = { url = "https://x/s.tar.gz", size = 3, hashes = {} }

[[packages]]
name = "here"
wheels = [{ url = "file:///x/h.whl", hashes = {} }]
"""
    assert read_sizes(text) == {"torch": 7, "six": 3}
    sizes = {name: 10**9 * (index + 1) for index, name in enumerate("abcde")}
    assert describe_sizes(sizes) == "15.0 GB (e 5.0 GB, d 4.0 GB, c 3.0 GB and 2 others)"
