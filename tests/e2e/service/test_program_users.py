"""The setting ``program_users`` of a service that root runs."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.replica.isolation import levels
from footplate.testing.service import RunningService, running_service
from tests.e2e.service.conftest import BUCKET, CACHE, Context

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="is about what root starts")
NAME = "nobody"
TASK = """
import json, os
with open("/proc/self/status") as file:
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in file)}
with open("/gcs/stage/made", "w") as file:
    file.write("by a program")
print(json.dumps([os.getresuid(), os.getresgid(), status["CapBnd"], status["NoNewPrivs"]]))
"""


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("nosuchuser", "'nosuchuser' given, but this machine has no such user; allowed: the name"),
        ("root", "the user 'root' is root; to let programs run as root, set allow_root"),
        (
            "60000-70000",
            "60000-70000 given, but this range contains the user nobody; a free range is",
        ),
        ("5-4", "5-4 given; allowed: a range of two ids or more, without 0"),
    ],
)
def test_a_service_does_not_start_with_users_of_others(
    tmp_path: Path, setting: str, reason: str
) -> None:
    service = RunningService(tmp_path / "data", CACHE, program_users=setting)
    with pytest.raises(RuntimeError) as failure:
        service.start()
    assert f"program_users: {reason}" in str(failure.value)
    assert "Traceback" not in str(failure.value)
    assert not service.alive


def test_programs_run_as_the_user_that_is_named(tmp_path: Path) -> None:
    user = pwd.getpwnam(NAME)
    with running_service(tmp_path / "data", CACHE, program_users=NAME) as service:
        context = Context(service)
        name = context.submit(TASK)
        job = context.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        uids, gids, bounding, no_new_privs = json.loads(context.messages(name)[0])
        assert (uids, gids) == ([user.pw_uid] * 3, [user.pw_gid] * 3)
        assert (int(bounding, 16), no_new_privs) == (0, "1")
        with context.client() as client:
            said = [e.message for e in client.events(name) if e.kind == "ISOLATION"]
        assert f"the program runs as user {user.pw_uid}, without capabilities" in said[0]
        assert levels.NAMED_USER.missing in said[0]
        made = context.bucket / "made"
        made.unlink()


WRITE = """
import os
os.umask(0o077)
os.mkdir("/gcs/stage/model")
for name in ("weights", "kept"):
    with open("/gcs/stage/model/" + name, "w") as file:
        file.write("by the first")
print(os.getuid())
"""
CHANGE = """
import os, shutil
with open("/gcs/stage/model/weights", "a") as file:
    file.write(", and by the second")
os.rename("/gcs/stage/model", "/gcs/stage/moved")
os.chmod("/gcs/stage/moved/weights", 0o600)
os.unlink("/gcs/stage/moved/kept")
print(os.getuid())
"""


def test_what_a_program_writes_is_the_services_and_later_programs(context: Context) -> None:
    first = run(context, WRITE)
    assert read(context, "model/kept") == b"by the first"
    second = run(context, CHANGE)
    assert first != second
    assert read(context, "moved/weights") == b"by the first, and by the second"
    with context.client() as client:
        client.storage.delete(GcsUri(BUCKET, "moved/weights"))
        assert not list(client.storage.objects(GcsUri(BUCKET, "mo")))


def run(context: Context, source: str) -> str:
    """What it prints: its user."""
    name = context.submit(source)
    job = context.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
    (user,) = context.messages(name)
    return user


def read(context: Context, key: str) -> bytes:
    with context.client() as client:
        return b"".join(client.storage.download(GcsUri(BUCKET, key)))
