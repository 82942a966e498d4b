"""What programs share with nobody: shared memory, queues, temporary directories; no core dumps."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.supervisor_process import Supervised, python_task

Make = Callable[..., Supervised]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")

PLACES = ("/dev/shm", "/run/lock", "/var/tmp")
LOOK = """
import json, os, resource, sys
places, word = json.loads(sys.argv[1]), sys.argv[2]
seen, written = [], []
for place in places:
    seen += [name for name in os.listdir(place) if name == word]
    try:
        open(os.path.join(place, word), "x").write("own")
        written.append(place)
    except FileExistsError:
        written.append(place)
print(json.dumps({
    "seen": seen,
    "written": written,
    "ipc": os.readlink("/proc/self/ns/ipc"),
    "core": resource.getrlimit(resource.RLIMIT_CORE),
}))
"""


@pytest.fixture
def places() -> list[str]:
    return [place for place in PLACES if Path(place).is_dir()]


@pytest.fixture
def word(places: list[str]) -> Iterator[str]:
    """The name of a file in each of the machine's own directories."""
    found = f"footplate-test-{secrets.token_hex(8)}"
    files = [Path(place, found) for place in places]
    for file in files:
        file.write_text("the machine's")
    yield found
    texts = {file.read_text() for file in files}
    for file in files:
        file.unlink()
    assert texts == {"the machine's"}


def test_a_program_finds_directories_of_its_own(
    make_replica: Make, containment_mode: str, word: str, places: list[str]
) -> None:
    replica = make_replica(python_task(LOOK, json.dumps(places), word), isolation=containment_mode)
    assert replica.supervise()["code"] == 0, replica.api.lines("stderr")
    if replica.api.events("ISOLATION")[1:]:
        pytest.skip(replica.api.events("ISOLATION")[1])
    told = json.loads(replica.api.lines()[0])
    assert told["seen"] == []
    assert told["written"] == places
    assert told["ipc"] != str(Path("/proc/self/ns/ipc").readlink())
    assert told["core"] == [0, 0]


def test_what_it_writes_to_var_tmp_is_among_its_own_files(make_replica: Make) -> None:
    replica = make_replica(python_task("open('/var/tmp/x', 'w').write('x')"))
    assert replica.supervise()["code"] == 0
    if replica.api.events("ISOLATION")[1:]:
        pytest.skip(replica.api.events("ISOLATION")[1])
    assert (replica.home / "tmp" / "x").read_text() == "x"


def test_the_setting_tmp_paths_shares_what_it_names(make_replica: Make) -> None:
    shared = Path("/dev/shm", f"footplate-test-{secrets.token_hex(8)}")
    if not shared.parent.is_dir():
        pytest.skip("this machine has no /dev/shm")
    shared.mkdir()
    (shared / "x").write_text("seen")
    code = "import os, sys; print(os.listdir('/dev/shm'), open(sys.argv[1] + '/x').read())"
    replica = make_replica(python_task(code, str(shared)), tmp_paths=[str(shared)])
    try:
        assert replica.supervise()["code"] == 0, replica.api.lines("stderr")
        if not replica.api.events("ISOLATION")[1:]:
            assert replica.api.lines() == [f"['{shared.name}'] seen"]
    finally:
        (shared / "x").unlink()
        shared.rmdir()


@pytest.mark.skipif(os.geteuid() == 0, reason="root's programs are other users")
def test_no_setuid_program_gains_rights(make_replica: Make) -> None:
    replica = make_replica(python_task("print(open('/proc/self/status').read())"))
    assert replica.supervise()["code"] == 0
    assert "NoNewPrivs:\t1" in replica.api.lines()
