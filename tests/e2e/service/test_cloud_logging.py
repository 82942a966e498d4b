"""A program that logs by google-cloud-logging, as its documentation shows it."""

from __future__ import annotations

import sys
from pathlib import Path

from google.auth.credentials import AnonymousCredentials
from google.cloud.logging_v2 import Client

from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context

PROGRAM = """
import logging
import google.cloud.logging
client = google.cloud.logging.Client()
client.setup_logging()
logging.info("loss %s", 0.5, extra={"labels": {"epoch": "3"}})
logging.warning("hm", extra={"json_fields": {"step": 12}})
client.flush_handlers()
try:
    client.logging_api.write_entries(
        [{"logName": "projects/other/logs/python", "textPayload": "x"}], partial_success=False
    )
except Exception as error:
    print("refused:", error, flush=True)
try:
    list(client.list_entries())
except Exception as error:
    print("refused:", error, flush=True)
"""
STARTER = """
import subprocess, sys
subprocess.run([sys.argv[1], "-W", "ignore", "-c", sys.argv[2]], check=True)
"""


def test_a_program_that_may_not_call_writes_to_its_jobs_log(tmp_path: Path) -> None:
    """Over gRPC, by the proxy. The program starts the Python of the tests, which has the client."""
    settings = {"isolation": "best-effort", "allow_root": "true"}
    with running_service(
        tmp_path / "data", CACHE, stop_grace_s=1, proxy_port=0, **settings
    ) as service:
        context = Context(service)
        name = context.submit(STARTER, sys.executable, PROGRAM)
        job = context.wait_for(name)
        messages = context.messages(name)
        assert job.state is State.SUCCEEDED, (job.error_message, messages)
        refused = [message for message in messages if message.startswith("refused: 403")]
        assert len(refused) == 2, messages
        assert "may write only to its own job's log" in refused[0]
        options = {"api_endpoint": service.url}
        client = Client(
            project="demo",
            credentials=AnonymousCredentials(),
            client_options=options,
            _use_grpc=False,
        )
        first, second = client.logger("python").list_entries()
        assert (first.severity, first.payload) == ("INFO", "loss 0.5")
        assert first.labels["epoch"] == "3"
        assert first.resource.labels["job_id"] == name.job_id
        assert (second.severity, second.payload["step"]) == ("WARNING", 12)
        assert "hm" in messages
