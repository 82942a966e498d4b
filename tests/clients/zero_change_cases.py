"""Programs as they are, under ``footplate run`` and the proxy, where there is no other network.

Run in a process of its own, by tests/support/own_process.py. The service and all its clients live
in it; no client may ask the proxy for a host that it doesn't know, but those that mean to.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from footplate.cli.environment_variables import PROXIES
from footplate.testing.service import FOOTPLATE, RunningService
from tests.support.forked_process import run_footplate
from tests.support.own_process import run_cases
from tests.support.request_record import record

FOLDER = Path.cwd()
HOME = FOLDER / "home"
SDK = Path(__file__).with_name("grpc_sdk_cases.py")
LIMIT_S = 300
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
BUCKETS = "https://storage.googleapis.com/storage/v1/b?project=demo"
FOREIGN = "foreign.example.com"


def _start(name: str, **settings: object) -> RunningService:
    settings = {"isolation": "best-effort", **settings}
    service = RunningService(FOLDER / name, None, **settings)
    service.start()
    atexit.register(service.down)
    return service


if os.environ.get("CLOSED"):
    with socket.socket() as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))
HOME.mkdir()
SERVICE = _start("data")
atexit.register(record, SERVICE)
httpx.post(f"{SERVICE.url}/storage/v1/b?project=demo", json={"name": "sdk"}).raise_for_status()


def _environment(service: RunningService) -> dict[str, str]:
    config = str(HOME / "gcloud")
    return service.environment(HOME=str(HOME), CLOUDSDK_CONFIG=config, GOOGLE_API_KEY="real")


def _run(
    *words: str, service: RunningService = SERVICE, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    command = ("run", *options, "--", *words)
    return run_footplate(*command, env=_environment(service), cwd=FOLDER, timeout=LIMIT_S)


def _output(*words: str, service: RunningService = SERVICE) -> str:
    done = _run(*words, service=service)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _python(text: str, service: RunningService = SERVICE) -> list[str]:
    return _output(sys.executable, "-W", "ignore", "-c", text, service=service).splitlines()


def _refused() -> list[str]:
    answer: Any = httpx.get(f"{SERVICE.url}/footplate/v1/proxy").json()
    return sorted(answer["refusedHosts"])


def _is_here(program: str) -> bool:
    """Programs that not every machine has. CI has them, or these cases would prove nothing."""
    found = shutil.which(program) is not None
    assert found or os.environ.get("CI") != "true", f"{program} is not on PATH"
    return found


def case_there_is_no_other_network() -> None:
    if os.environ.get("CLOSED"):
        with socket.socket() as other:
            assert other.connect_ex(("192.0.2.1", 443)) == errno.ENETUNREACH


def case_the_sdk_in_three_versions() -> None:
    for number, python in enumerate(json.loads(os.environ["SDK_PYTHONS"])):
        folder = FOLDER / f"sdk{number}"
        folder.mkdir()
        launcher = (*FOOTPLATE, "run", "--")
        errors = run_cases(SDK, _environment(SERVICE), folder, launcher, python)
        assert not any(errors.values()), (python, errors)


def case_nothing_of_the_sdk_is_patched() -> None:
    host, module = _python(
        "from google.cloud import aiplatform_v1 as v1; import google.auth\n"
        "print(v1.JobServiceClient().transport.host)\n"
        "print(type(google.auth.default()[0]).__module__)"
    )
    assert host == "aiplatform.googleapis.com:443"
    assert module == "google.oauth2.service_account"


def case_async_clients() -> None:
    text = (
        "import asyncio; from google.cloud import aiplatform_v1 as v1\n"
        "async def list_jobs():\n"
        "    client = v1.JobServiceAsyncClient()\n"
        "    found = await client.list_custom_jobs(parent='projects/x/locations/us-central1')\n"
        "    print([job async for job in found])\n"
        "asyncio.run(list_jobs())"
    )
    assert _python(text) == ["[]"]


def case_the_number_of_a_project_is_asked_for_over_grpc() -> None:
    text = (
        "from google.cloud import resourcemanager\n"
        "from google.cloud.aiplatform.utils import resource_manager_utils as utils\n"
        "client = resourcemanager.ProjectsClient()\n"
        "print(client.transport.kind, client.get_project(name='projects/x').project_id)\n"
        "print(utils.get_project_number('x'), utils.get_project_id('x'))"
    )
    assert _python(text) == ["grpc x", "0 x"]


def case_storage_by_its_own_name() -> None:
    text = (
        "import os; os.environ.pop('STORAGE_EMULATOR_HOST')\n"
        "from google.cloud import storage\n"
        "blob = storage.Client().bucket('sdk').blob('a/b c.txt')\n"
        "blob.upload_from_string('hello', timeout=60)\n"
        "print(blob.download_as_bytes(start=1, end=2), blob.self_link)"
    )
    assert _python(text) == [
        "b'el' https://storage.googleapis.com/storage/v1/b/sdk/o/a%2Fb%20c.txt"
    ]


def case_googleapiclient() -> None:
    text = (
        "from googleapiclient.discovery import build\n"
        "print(build('ml', 'v1').projects().jobs().list(parent='projects/demo').execute())\n"
        "print(build('cloudresourcemanager', 'v1').projects().get(projectId='x').execute()"
        "['projectId'])"
    )
    assert _python(text) == ["{}", "x"]


def case_a_googleapiclient_that_asks_for_documents() -> None:
    """1.x looks for them at Google's hosts, as later ones do with ``static_discovery=False``."""
    text = (
        "from googleapiclient.discovery import build\n"
        "jobs = build('ml', 'v1', cache_discovery=False{}).projects().jobs()\n"
        "print(jobs.list(parent='projects/demo').execute())\n"
        "buckets = build('storage', 'v1', cache_discovery=False{}).buckets()\n"
        "print(buckets.get(bucket='sdk').execute()['name'])"
    )
    old = _output(os.environ["OLD_CLIENT_PYTHON"], "-c", text.format("", ""))
    assert old.splitlines() == ["{}", "sdk"]
    told = ", static_discovery=False"
    assert _python(text.format(told, told)) == ["{}", "sdk"]


def case_a_script_that_names_endpoints_and_credentials() -> None:
    """They stay as they are: what they name is answered here."""
    assert _python(
        "import os, httplib2\n"
        "from google.api_core.client_options import ClientOptions\n"
        "from google.cloud import aiplatform, aiplatform_v1beta1 as v1, storage\n"
        "from google.oauth2 import service_account\n"
        "from googleapiclient.discovery import build\n"
        "key = os.environ['GOOGLE_APPLICATION_CREDENTIALS']\n"
        "mine = service_account.Credentials.from_service_account_file(key)\n"
        "real = 'us-central1-aiplatform.googleapis.com'\n"
        "aiplatform.init(project='p', credentials=mine, api_endpoint=real, api_transport='grpc')\n"
        "print(aiplatform.CustomJob.list())\n"
        "parent = 'projects/p/locations/us-central1'\n"
        "for transport in ('grpc', 'rest'):\n"
        "    options = ClientOptions(api_endpoint=real)\n"
        "    client = v1.JobServiceClient(\n"
        "        credentials=mine, transport=transport, client_options=options)\n"
        "    print(list(client.list_custom_jobs(parent=parent)))\n"
        "options = {'api_endpoint': 'https://storage.googleapis.com'}\n"
        "print(storage.Client('p', mine, client_options=options).bucket('sdk').exists())\n"
        "ml = build('ml', 'v1', http=httplib2.Http(), developerKey='real')\n"
        "print(ml.projects().jobs().list(parent='projects/p').execute())"
    ) == ["[]", "[]", "[]", "True", "{}"]


def case_until_here_nothing_else_was_asked_for() -> None:
    found = _refused()
    assert found == [], found


def case_the_metadata_server_gives_nothing() -> None:
    text = "import requests; print(requests.get('http://metadata.google.internal/').text)"
    assert _python(text)[0].startswith("Footplate has no metadata server")


def case_python_that_ignores_its_environment() -> None:
    text = "import requests; print(requests.get('https://ml.googleapis.com/v1/projects/p').ok)"
    assert _output(sys.executable, "-I", "-c", text) == "True"


def case_requests_urllib_and_httpx() -> None:
    assert _python(
        "import requests, httpx, urllib.request\n"
        f"url = {BUCKETS!r}\n"
        "print(requests.get(url).ok, httpx.get(url).is_success)\n"
        "print(urllib.request.urlopen(url).status)"
    ) == ["True True", "200"]


def case_curl() -> None:
    found = json.loads(_output("curl", "-sS", BUCKETS))
    assert [bucket["name"] for bucket in found["items"]] == ["sdk"]


def case_gcloud_and_gsutil() -> None:
    assert _output("gcloud", "projects", "describe", "demo", "--format=value(projectId)") == "demo"
    listed = ("gcloud", "ai", "custom-jobs", "list", "--region=europe-west4", "--format=json")
    assert json.loads(_output(*listed)) == []
    (FOLDER / "file.txt").write_text("by gcloud")
    _output("gcloud", "storage", "cp", "file.txt", "gs://sdk/by-gcloud")
    assert _output("gcloud", "storage", "cat", "gs://sdk/by-gcloud") == "by gcloud"
    if _is_here("gsutil"):
        assert _output("gsutil", "cat", "gs://sdk/by-gcloud") == "by gcloud"


def case_models_by_gcloud() -> None:
    """Vertex AI's are a registry; of AI Platform's there are none, with a region as without one."""
    assert (
        _output("gcloud", "ai", "models", "list", "--region=us-central1", "--format=json") == "[]"
    )
    for region in ((), ("--region=us-central1",)):
        listed = ("gcloud", "ai-platform", "models", "list", *region, "--format=json")
        assert _output(*listed) == "[]"


def case_gsutil_without_gcloud() -> None:
    gcloud = shutil.which("gcloud")
    assert gcloud is not None
    script = Path(gcloud).resolve().parents[1] / "platform" / "gsutil" / "gsutil"
    if script.exists():
        proxies = [word for name in PROXIES for word in ("-u", name)]
        words = ("env", *proxies, sys.executable, script, "cat", "gs://sdk/by-gcloud")
        assert _output(*map(str, words)) == "by gcloud"


NODE = """
const https = require('https');
const [url, own] = process.argv.slice(1);
const options = own ? { agent: new https.Agent({ keepAlive: true }) } : {};
https.get(url, options, answer => { console.log(answer.resume().statusCode); process.exit(); })
  .on('error', error => console.log(error.message));
"""


FETCH = """
fetch(process.argv[1]).then(answer => console.log(answer.status), () => console.log('not reached'));
"""


def case_node_of_any_version() -> None:
    """Google's libraries use its https client over REST; ``fetch`` ignores proxies before 22.21."""
    if _is_here("node"):
        assert _output("node", "-e", NODE, BUCKETS) == "200"
        assert _output("node", "-e", NODE, BUCKETS, "with an agent of its own") == "200"
        refused = _output("node", "-e", NODE, f"https://{FOREIGN}/")
        assert f"403 Footplate refuses the host {FOREIGN}" in refused, refused
        old = _output("node", "-p", "parseInt(process.versions.node) < 22") == "true"
        assert not old or _output("node", "-e", FETCH, BUCKETS) == "not reached"


JAVA = """
import java.net.*;
public class Read {
  public static void main(String[] urls) throws Exception {
    for (String url : urls)
      System.out.println(((HttpURLConnection) new URL(url).openConnection()).getResponseCode());
  }
}
"""


def case_java() -> None:
    if _is_here("javac"):
        (FOLDER / "Read.java").write_text(JAVA)
        assert _output("java", "Read.java", BUCKETS) == "200"


def case_other_hosts_are_refused_with_the_way_out() -> None:
    done = _run("curl", "-sS", f"https://{FOREIGN}/")
    assert done.returncode != 0
    assert "403" in done.stderr
    text = f"import requests; requests.get('https://{FOREIGN}/')"
    done = _run(sys.executable, "-c", text)
    assert f"allow it with --allow-host {FOREIGN}" in done.stderr
    assert f"{FOREIGN}:443" in _refused()


def case_grpc_of_other_hosts_ends_soon() -> None:
    text = (
        "from google.cloud import aiplatform_v1 as v1\n"
        "from google.api_core.client_options import ClientOptions\n"
        f"client = v1.JobServiceClient(client_options=ClientOptions(api_endpoint='{FOREIGN}'))\n"
        "client.list_custom_jobs(parent='projects/p/locations/l')"
    )
    done = _run(sys.executable, "-W", "ignore", "-c", text)
    assert done.returncode == 1
    assert "ServiceUnavailable" in done.stderr


def case_a_product_that_is_not_here_is_refused_at_once() -> None:
    text = "from google.cloud import bigquery; list(bigquery.Client().list_datasets())"
    done = _run(sys.executable, "-W", "ignore", "-c", text)
    assert done.returncode == 1
    assert "exceptions.Forbidden: 403 " in done.stderr
    assert "Footplate has no BigQuery (bigquery.googleapis.com). Export the table" in done.stderr


def case_an_allowed_host_is_reached_directly() -> None:
    host = "host.invalid"  # which no name server knows
    text = f"import requests; requests.get('https://{host}/')"
    done = _run(sys.executable, "-c", text, options=("--allow-host", host))
    assert done.returncode == 1
    assert "ProxyError" not in done.stderr
    assert f"{host}:443" not in _refused()


def case_the_variables_of_env_are_enough() -> None:
    shell = 'eval "$("$@" env)"; curl -sS "$URL"; "$1" -c "$CODE"'
    code = "import requests; print(requests.get('https://iam.googleapis.com/').status_code)"
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *FOOTPLATE],
        env={**_environment(SERVICE), "URL": BUCKETS, "CODE": code},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert '"name":"sdk"' in done.stdout, done
    assert done.stdout.endswith("}403\n"), done


def case_a_server_with_a_token() -> None:
    service = _start("token", token="s3 cret/%41")
    assert _python(
        "from google.cloud import aiplatform_v1 as v1, storage\n"
        "from googleapiclient.discovery import build\n"
        "parent = 'projects/p/locations/us-central1'\n"
        "print(list(v1.JobServiceClient().list_custom_jobs(parent=parent)))\n"
        "print(list(v1.JobServiceClient(transport='rest').list_custom_jobs(parent=parent)))\n"
        "print(list(storage.Client().list_buckets()))\n"
        "print(build('ml', 'v1').projects().jobs().list(parent='projects/p').execute())",
        service,
    ) == ["[]", "[]", "[]", "{}"]
    assert json.loads(_output("curl", "-sS", BUCKETS, service=service))["items"] == []
    listed = ("gcloud", "ai", "custom-jobs", "list", "--region=us-central1", "--format=json")
    assert json.loads(_output(*listed, service=service)) == []
