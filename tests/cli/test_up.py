"""footplate up, as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from footplate.testing.service import FOOTPLATE
from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


STRAY = "FOOTPLATE_GPUTYPE is set, which is no setting; did you mean FOOTPLATE_GPU_TYPE?"
GREETING = """\
Footplate answers at URL (data in DATA).
Machine: emulate, up to 5 replicas at once, 2 simulated NVIDIA_L4; no limits on CPU or memory.
  up to MANY files and connections open at once

  footplate run -- python submit.py    run an unchanged Vertex AI script against it
  eval "$(footplate env)"              or lead all programs of a shell to it
  footplate status                     see what it does

Ctrl-C stops the service, not its jobs; `footplate down` ends them, too.
"""


def test_up_greets_refuses_a_second_one_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    data = tmp_path / "data"
    words = [*FOOTPLATE, "up", "--port=0", f"--data-dir={data}"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "FOOTPLATE_MAX_REPLICAS": "5",
        "FOOTPLATE_GPUS": "simulated:NVIDIA_L4=2",
        "FOOTPLATE_GPUTYPE": "no such setting",
    }
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        greeting = "".join(server.stdout.readline() for _ in GREETING.splitlines())
        shown = greeting.replace(str(data), "DATA")
        shown = re.sub(r"http://127\.0\.0\.1:\d+", "URL", shown)
        assert re.sub(r"up to \d+ files", "up to MANY files", shown) == GREETING

        second = subprocess.run(
            words, env=environment, capture_output=True, text=True, check=False, timeout=EVENT_S
        )
        assert (second.returncode, second.stdout) == (1, "")
        assert f"already uses {data}; stop it with `footplate down`" in second.stderr

        server.send_signal(signal.SIGINT)
        rest, told = server.communicate(timeout=EVENT_S)
    assert (rest, told) == ("", f"Warning: {STRAY}\n\nThe service has stopped.\n")
    assert server.returncode == 0


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("GPUS", "gpus: 'x' given; allowed: auto, none, or simulated:TYPE=NUMBER"),
        ("GPU_TYPE", "gpu_type: 'x' given; allowed: NVIDIA_"),
    ],
)
def test_wrong_gpus_stop_the_start(tmp_path: Path, variable: str, words: str) -> None:
    done = subprocess.run(
        [*FOOTPLATE, "up", "--port=0", f"--data-dir={tmp_path}"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), f"FOOTPLATE_{variable}": "x"},
        capture_output=True,
        text=True,
        check=False,
        timeout=EVENT_S,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {words}")


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [*FOOTPLATE, "up", "--host=0.0.0.0", f"--data-dir={tmp_path}"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=EVENT_S,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: host: '0.0.0.0' given without a token: other machines could run programs here; "
        "set FOOTPLATE_TOKEN, or keep to 127.0.0.1\n"
    )
