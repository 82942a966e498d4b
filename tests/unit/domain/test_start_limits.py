"""What Linux starts no program with, of what is known before a job starts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from footplate.domain.jobs import ContainerProgram
from footplate.domain.start_limits import MAX_TOTAL_BYTES, MAX_WORD_BYTES, fault
from tests.support.jobs import PROGRAM, make_spec


def test_ordinary_jobs_start() -> None:
    assert fault(make_spec()) is None
    assert fault(make_spec(workers=2000)) is None
    assert fault(make_spec(program=replace(PROGRAM, args=("x" * MAX_WORD_BYTES,) * 14))) is None


def test_a_cluster_whose_addresses_are_no_variable() -> None:
    said = fault(make_spec(workers=8000))
    assert said is not None
    assert said.startswith("the variable TF_CONFIG, which has the addresses of 8,001 replicas and")
    assert said.endswith("Linux allows 131,071: have fewer replicas or shorter arguments")


@pytest.mark.parametrize(
    "program",
    [
        replace(PROGRAM, args=("x" * 100_000,) * 21),
        ContainerProgram("i", command=("x" * 100_000,) * 10, args=("x" * 100_000,) * 11),
    ],
)
def test_too_much_together(program: ContainerProgram) -> None:
    said = fault(make_spec(program=program))
    assert said is not None
    assert said.startswith("the arguments and variables of master-replica-0 have 2,1")


@pytest.mark.parametrize(("size", "starts"), [(MAX_WORD_BYTES, True), (MAX_WORD_BYTES + 1, False)])
def test_the_limit_is_linuxs(size: int, *, starts: bool) -> None:
    word = "x" * size
    for args, env in (([word], {}), ([], {"A": word[2:]})):
        command = [sys.executable, "-c", "", *args]
        try:
            subprocess.run(command, env=env, check=True)
        except OSError:
            assert not starts
        else:
            assert starts
    assert MAX_TOTAL_BYTES < 2 << 20
