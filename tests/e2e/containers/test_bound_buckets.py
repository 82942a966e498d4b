"""Containers with buckets that are bound to a folder and to S3."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.containers.container_context import ContainerContext, Engine
from tests.e2e.service.conftest import CACHE
from tests.e2e.service.test_bound_buckets import write_settings
from tests.support.s3_server import S3Server

PROBE = """
import os, pathlib, sys
read = pathlib.Path("/gcs/data/x").read_text() + pathlib.Path("/gcs/store/in/x").read_text()
try:
    pathlib.Path("/gcs/data/new").write_text("x")
except OSError:
    read += " sealed"
pathlib.Path(os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/"), "model").write_text(read)
"""


@pytest.mark.parametrize("user", ["root", "trainer"])
def test_an_image_reads_and_writes_them(
    podman: Engine, tmp_path: Path, s3: S3Server, user: str
) -> None:
    bucket = s3.make_bucket(uuid4().hex)
    s3.put(bucket, "in/x", b"remote")
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv" / "x").write_text("folder ")
    write_settings(
        tmp_path / "data",
        {"name": "data", "target": str(tmp_path / "srv"), "read_only": True},
        {"name": "store", "target": f"s3://{bucket}", "endpoint": s3.url},
    )
    (tmp_path / "data").chmod(0o700)
    image = podman.derive(f"trainers/bound-{user}:dev", f"USER {user}")
    settings = {"stop_grace_s": 1, "container_engine": podman.socket}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        context = ContainerContext(service, podman)
        container = {
            "imageUri": image,
            "command": ["python3", "-c", PROBE],
            "args": ["gs://store/in"],
        }
        directory = {"outputUriPrefix": "gs://store/out"}
        name = context.submit_custom({"containerSpec": container}, baseOutputDirectory=directory)
        job = context.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
    assert s3.read(bucket, "out/model/model") == b"folder remote sealed"
    context.check_nothing_is_left()
