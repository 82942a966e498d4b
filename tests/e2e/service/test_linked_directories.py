"""A job's setup.py puts a link in the place of the job's directory: it leads nowhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.testing.service import running_service
from tests.e2e.service.conftest import BUCKET, CACHE, Context

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="is about Linux")
SETUP = """
import os
from setuptools import find_packages, setup
if not os.path.lexists({link!r}):
    os.symlink({target!r}, {link!r})
setup(name="trainer", version="0.1.0", packages=find_packages())
"""
PLANT = """
import os, sys
for place in sys.argv[1:]:
    try:
        print("sees", os.listdir(place), flush=True)
        open(os.path.join(place, "planted"), "w").close()
    except OSError as error:
        print(error)
"""


def test_a_link_in_the_place_of_the_job_directory_ends_the_job(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir(mode=0o700)
    (secrets / "kept").write_text("of the service's user")
    with running_service(tmp_path / "data", CACHE) as service:
        context = Context(service)
        theirs = service.data_dir / "buckets" / "theirs"
        with context.client() as client:
            client.storage.create_bucket("ads", "theirs")
            client.storage.upload(GcsUri("theirs", "kept"), b"of another project")
        targets = {"root": str(secrets), "theirs/job": str(theirs), "tmp": "/tmp", "up/job": ".."}
        jobs = {}
        for place, target in targets.items():
            link = context.bucket / place.removesuffix("/job")
            setup = SETUP.format(link=str(link), target=target)
            uri = f"gs://{BUCKET}/{place}"
            jobs[link] = context.submit(PLANT, target, setup=setup, jobDir=uri)
        for link, name in jobs.items():
            job = context.wait_for(name)
            assert link.is_symlink()
            assert job.state is State.FAILED
            assert (
                f"{link.name!r} is a link, which the service doesn't follow"
            ) in job.error_message
            assert context.messages(name) == []
        assert [path.name for path in secrets.iterdir()] == ["kept"]
        assert [path.name for path in theirs.iterdir()] == ["kept"]
        for top in (service.data_dir / "buckets", service.data_dir / "buckets" / "job", "/tmp/job"):
            assert not os.path.lexists(f"{top}/planted")
