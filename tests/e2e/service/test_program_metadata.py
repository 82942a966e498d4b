"""Google's own libraries and tools in programs: the credentials they find, and where these end."""

from __future__ import annotations

import json

from footplate.domain.job_states import State
from tests.e2e.service.conftest import Context
from tests.support.gcloud import find_gcloud

FINDS = """
import json, subprocess, sys
import google.auth
from google.auth.transport.requests import AuthorizedSession, Request
from google.cloud import storage

credentials, project = google.auth.default()
credentials.refresh(Request())
bucket = storage.Client(credentials=credentials).bucket(sys.argv[1])
bucket.blob("model").upload_from_string("m")
try:
    AuthorizedSession(credentials).get("https://bigquery.googleapis.com/bigquery/v2/projects")
except google.auth.exceptions.RefreshError as error:
    refused = str(error)

def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode()

print(json.dumps({
    "project": project,
    "of client": storage.Client().project,
    "email": credentials.service_account_email,
    "blob": storage.Client().bucket(sys.argv[1]).blob("model").download_as_bytes().decode(),
    "refused": refused,
    "auth": run("gcloud", "auth", "list", "--format=value(account,status)"),
    "secret": run("gcloud", "secrets", "versions", "access", "latest", "--secret=a"),
}))
"""
ENDS = """
from google.api_core import grpc_helpers
grpc_helpers.create_channel("pubsub.googleapis.com:443")
"""


def test_a_program_finds_credentials_that_are_good_here(shared: Context) -> None:
    find_gcloud()
    name = shared.submit(FINDS, shared.bucket.name, serviceAccount="trainer@demo.example")
    job = shared.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, shared.messages(name))
    found = json.loads(next(line for line in shared.messages(name) if line.startswith("{")))
    assert found["project"] == found["of client"] == shared.project
    assert found["email"] == "trainer@demo.example"
    assert found["blob"] == "m"
    assert "Footplate has no BigQuery (bigquery.googleapis.com)" in found["refused"]
    assert found["auth"] == [0, "trainer@demo.example\t*\n"]
    assert found["secret"][0] == 1
    assert "PERMISSION_DENIED: Footplate has no Secret Manager" in found["secret"][1]


def test_what_ends_a_program_that_needs_another_product_says_so(shared: Context) -> None:
    name = shared.submit(ENDS)
    job = shared.wait_for(name)
    assert job.state is State.FAILED
    said = "Footplate has no Pub/Sub (pubsub.googleapis.com). Print the messages"
    assert job.error_message is not None
    assert job.error_message.count(said) == 1
