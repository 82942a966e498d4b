"""What a job's program, its setup.py and a shell beside it see of the service's own files."""

from __future__ import annotations

import json
import sys

import pytest

from tests.e2e.service.conftest import BUCKET, CACHE, Context
from tests.support.forked_process import run_footplate

LOOK = """
import glob, importlib.metadata, json, os, sys, time

def attempt(path):
    try:
        return len(open(path, "rb").read())
    except OSError as error:
        return error.strerror

data = sys.argv[1]
home = os.path.dirname(os.getcwd())
names = ["secret", "footplate.db", "footplate.toml", "server.json"]
found = {path: attempt(path) for path in [f"{data}/{name}" for name in names]}
found[f"{home}/ticket.json"] = attempt(f"{home}/ticket.json")
found["replicas"] = glob.glob(f"{data}/replicas/*/*")
found["logs"] = glob.glob(f"{data}/logs/*")
with open(os.path.join(sys.argv[-1].replace("gs://", "/gcs/"), "model"), "w") as file:
    file.write("m")
found["setup.py"] = importlib.metadata.metadata("trainer")["Summary"]
print(json.dumps(found), flush=True)
stay = "stay" in sys.argv
while stay:
    time.sleep(1)
"""
SETUP = """
import os
from setuptools import find_packages, setup
try:
    seen = open({secret!r}, "rb").read()
except OSError as error:
    seen = error.strerror
try:
    open({planted!r}, "w").close()
except OSError as error:
    written = error.strerror
told = f"{{seen}}; {{written}}; {{os.listdir('/gcs')}}"
setup(name="trainer", version="0.1.0", packages=find_packages(), description=told)
"""
MISSING = "No such file or directory"
SEALED = "Read-only file system"


@pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")
def test_programs_and_shells_see_nothing_of_the_service(context: Context) -> None:
    data = context.service.data_dir
    (data / "footplate.toml").write_text('token = "t"\n')
    setup = SETUP.format(secret=str(data / "secret"), planted=str(CACHE / "supervisor-0.pyz"))
    name = context.submit(LOOK, str(data), "stay", setup=setup, enableWebAccess=True)
    context.until(lambda: bool(context.messages(name)))
    found = json.loads(context.messages(name)[0])

    assert (found.pop("replicas"), found.pop("logs")) == (
        [str(p.parent) for p in data.glob("replicas/*/*/work")],
        [],
    )
    assert found.pop("setup.py") == f"{MISSING}; {SEALED}; ['{BUCKET}']"
    assert set(found.values()) == {MISSING}
    assert (context.out(name) / "model").read_text() == "m"

    shell = f"cat {data}/secret; ls {data}; pwd"
    options = ("ai-platform", "jobs", "ssh", name.job_id, "--command", shell)
    done = run_footplate(*options, env=context.service.environment())
    assert f"{data}/secret: {MISSING}" in done.stderr
    assert done.stdout.split()[:2] == ["buckets", "replicas"]
    assert done.stdout.split()[2].startswith(str(data / "replicas"))
