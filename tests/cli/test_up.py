"""footplate up, as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from footplate.testing.service import FOOTPLATE
from tests.support.deadlines import EVENT_S

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


STRAY = (
    "the variable FOOTPLATE_GPUTYPE is set, but Footplate has no such setting; did you "
    "mean FOOTPLATE_GPU_TYPE?"
)
GREETING = """\
Footplate answers at URL (data in DATA).
Machine: emulate, up to 5 replicas at once, 2 simulated NVIDIA_L4; no limits on CPU or memory.
  up to MANY files and connections open at once

  URL see and submit jobs in a browser
  footplate run -- python submit.py    run an unchanged Vertex AI script against it
  eval "$(footplate env)"              or lead all programs of a shell to it
  footplate status                     show the service and its jobs

Ctrl-C stops the service, but not its jobs; `footplate down` stops both.
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
        shown = re.sub(r"http://127\.0\.0\.1:\d+ *", "URL ", shown)
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
        "Error: host: '0.0.0.0' given without a token, so anyone on the network could run "
        "programs here; set FOOTPLATE_TOKEN, or listen on 127.0.0.1\n"
    )


def test_detached_it_returns_when_it_answers_and_outlives_its_terminal(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "FOOTPLATE_DATA_DIR": str(tmp_path / "data"),
    }

    def footplate(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*FOOTPLATE, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=EVENT_S,
            start_new_session=True,
        )

    up = footplate("up", "--detach", "--port=0")
    assert (up.returncode, up.stderr) == (0, "")
    try:
        found = re.search(r"answers at (http://\S+) .*, as process (\d+)\.", up.stdout)
        assert found is not None, up.stdout
        assert f"  {found[1]}  see and submit jobs in a browser" in up.stdout
        pid = int(found[2])
        assert os.getsid(pid) == pid, "a session of its own: no terminal's end reaches it"
        assert found[1] in footplate("status").stdout
        again = footplate("up", "--detach", "--port=0")
        assert (again.returncode, again.stdout) == (1, "")
        assert f"already uses {tmp_path / 'data'}, and answers at {found[1]}" in again.stderr
        port = found[1].rpartition(":")[2]
        taken = footplate("up", "--detach", f"--port={port}", f"--data-dir={tmp_path / 'other'}")
        assert (taken.returncode, taken.stdout) == (1, "")
        assert "the service has not started:\n  " in taken.stderr
        assert port in taken.stderr, "it says why"
    finally:
        down = footplate("down", "--yes")
    assert down.returncode == 0, down.stderr
    log = tmp_path / "data" / "footplate.log"
    assert "Footplate answers at" in log.read_text("utf-8")
    assert log.stat().st_mode & 0o077 == 0
