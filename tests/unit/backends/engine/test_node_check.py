"""What a check says of a node, from the output of its probe job."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.backends.engine.engine import EngineRefused, EngineUnavailable, LauncherRequest
from footplate.backends.engine.node_check import NodeCheck, NodeNeeds, make_program
from footplate.backends.slurm.container_check import read_answer
from tests.support.fake_engine import FakeEngine

if TYPE_CHECKING:
    from footplate.ports.engines import EngineReport

GPU = LauncherRequest("", vcpus=1, accelerator_type="NVIDIA_TESLA_T4", accelerators=1)
PLAIN = LauncherRequest("", vcpus=1)
RESULT = {"facts": ["node: n1", "gpus: none in a job that asks for none"], "problems": []}


class Engine(FakeEngine):
    """One that answers a probe with the next of ``answers``, and keeps what it was asked for."""

    def __init__(self, *answers: str | Exception) -> None:
        super().__init__()
        self.answers = list(answers)
        self.asked: list[int] = []

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        self.asked.append(launcher.accelerators)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Here(FakeEngine):
    """One whose node is this machine."""

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        command = [sys.executable, "-I", "-S", "-"]
        environment = {"PATH": "/nowhere", **self.variables}
        return subprocess.run(
            command, input=program, capture_output=True, check=True, env=environment
        ).stdout.decode()

    variables: dict[str, str]


def needs(folder: Path) -> NodeNeeds:
    uv = folder / "uv"
    uv.write_text("#!/bin/sh\necho uv 0.13.8\n")
    uv.chmod(0o755)
    (folder / "buckets").mkdir()
    return NodeNeeds(
        "", "", str(folder / "scratch"), str(folder / "shared"), str(folder / "buckets"), str(uv)
    )


def check(engine: FakeEngine, found: NodeNeeds, *samples: LauncherRequest) -> EngineReport:
    named = {str(number): each for number, each in enumerate(samples)}
    return NodeCheck(engine, lambda: found, named, read_answer)()


def answer(**more: object) -> str:
    return "a line of the site\n" + json.dumps({**RESULT, "printed": "", **more}) + "\n"


def here(**variables: str) -> Here:
    engine = Here()
    engine.variables = variables
    return engine


def things(lines: tuple[str, ...]) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in lines)


def test_a_node_with_all_that_jobs_need(tmp_path: Path) -> None:
    report = check(here(CUDA_VISIBLE_DEVICES="3"), needs(tmp_path), GPU)
    assert report.problems == ()
    facts = things(report.facts)
    assert list(facts) == ["node", "python", "scratch", "shared", "buckets", "uv", "gpus"]
    assert facts["python"].endswith(f" at {sys.executable}")
    assert facts["scratch"].startswith(f"{tmp_path}/scratch is writable, ")
    assert facts["uv"] == f"uv 0.13.8 at {tmp_path}/uv"
    assert facts["gpus"].startswith("CUDA_VISIBLE_DEVICES=3")
    assert [*(tmp_path / "scratch").iterdir(), *(tmp_path / "shared").iterdir()] == []


def test_each_thing_that_a_node_lacks_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "open").mkdir(mode=0o755)
    lacking = NodeNeeds(
        "https://127.0.0.1:1",
        "",
        str(tmp_path / "open"),
        str(tmp_path / "file" / "shared"),
        str(tmp_path / "nowhere"),
        str(tmp_path / "uv"),
    )
    problems = things(check(here(), lacking, replace(GPU)).problems)
    assert list(problems) == ["scratch", "shared", "buckets", "uv", "address", "gpus"]
    assert problems["scratch"].endswith("only this user may use (mode 0700)")
    assert "mount it on all nodes, or leave out shared" in problems["shared"]
    assert problems["buckets"].endswith('set files = "copied"')
    assert problems["uv"].endswith("install uv")
    assert "set cluster_address to an address that nodes reach" in problems["address"]
    assert problems["gpus"] == "a job that asks for one NVIDIA_TESLA_T4 sees none on its node"


def test_a_job_without_a_gpu_runs_where_none_is_free(tmp_path: Path) -> None:
    engine = Engine(EngineUnavailable("Unable to allocate resources"), answer())
    report = check(engine, needs(tmp_path), PLAIN, GPU)
    assert engine.asked == [1, 0]
    assert report.problems == ()
    assert things(report.facts)["gpus"] == (
        "not checked: a job with one NVIDIA_TESLA_T4 did not run: Unable to allocate resources"
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (EngineUnavailable("busy"), "node: no node was free for a probe job: busy"),
        (EngineRefused("slurmrestd can't"), "node: not checked: slurmrestd can't"),
    ],
)
def test_what_is_busy_is_no_fault_of_the_node(tmp_path: Path, error: Exception, said: str) -> None:
    report = check(Engine(error), needs(tmp_path))
    assert (report.facts, report.problems) == ((said,), ())


def test_output_that_is_no_result_is_shown(tmp_path: Path) -> None:
    (problem,) = check(Engine("Segmentation fault\n"), needs(tmp_path)).problems
    assert "printed 'Segmentation fault\\n', which isn't its result" in problem


def test_the_container_engine_is_looked_for_in_the_same_job(tmp_path: Path) -> None:
    printed = json.dumps({"node": "n1", "socket": "/x.sock", "fault": ""})
    with_program = replace(needs(tmp_path), program="print('looked')")
    report = check(Engine(answer(printed=printed)), with_program)
    assert report.facts[-1] == "containers: node n1 has a container engine at /x.sock"

    made = make_program(with_program, PLAIN)
    done = subprocess.run([sys.executable, "-"], input=made, capture_output=True, check=True)
    assert json.loads(done.stdout)["printed"] == "looked\n"
