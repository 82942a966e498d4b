"""What programs do with ``gs://`` in containers.

TensorFlow's own is tried by what it would read, in an image without TensorFlow.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.testing.service import running_service
from tests.e2e.containers.container_context import ContainerContext, Engine
from tests.e2e.service.conftest import CACHE
from tests.support import ROOT, idioms
from tests.support.engines.python_image import find_libraries

SCRIPTS = ("paths.py", "clients.py")
CLIENTS = ("google-cloud-storage", "gcsfs")
LOCKED = ROOT / "src/footplate/catalogue/locks/scikit-learn-1.9-cpu.txt"
PROGRAM = """
import ctypes, os, ssl, sys, tempfile, urllib.request

folder = tempfile.mkdtemp()
open(folder + "/tensorflow.py", "w").close()
sys.path.insert(0, folder)
import tensorflow

def find(name):
    get = ctypes.CDLL(None).getenv
    get.restype = ctypes.c_char_p
    return get(name).decode()

assert "https_proxy" not in os.environ
trusted = ssl.create_default_context(cafile=find(b"CURL_CA_BUNDLE"))
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({"https": find(b"https_proxy")}),
    urllib.request.HTTPSHandler(context=trusted),
)
with opener.open("https://storage.googleapis.com/stage/file") as answer:
    print("READ", answer.read().decode(), os.environ["PYTHONPATH"].split(":")[1:])
url = "http://" + os.environ["GCE_METADATA_HOST"] + "/computeMetadata/v1/project/project-id"
asked = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
with urllib.request.urlopen(asked) as answer:
    print("PROJECT", answer.read().decode())
"""
FIND_PACKAGES = """\
import ctypes, pathlib, sys
sys.path.append("/gcs/stage/packages")
for library in sorted(pathlib.Path("/gcs/stage/packages/lib").iterdir()):
    try:
        ctypes.CDLL(library.name)
    except OSError:
        ctypes.CDLL(str(library))
"""


def test_the_proxy_leads_tensorflow(podman: Engine, tmp_path: Path) -> None:
    settings = {"stop_grace_s": 1, "container_engine": podman.socket}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        context = ContainerContext(service, podman)
        context.image = podman.derive("trainers/path:dev", "ENV PYTHONPATH=/own")
        with context.client() as client:
            client.storage.upload(GcsUri("stage", "file"), b"content")
        name = context.run_custom("python3", "-c", PROGRAM)
        job = context.wait_for(name)
        said = context.messages(name)
        assert job.state is State.SUCCEEDED, (job.error_message, said)
        assert said == ["READ content ['/own']", "PROJECT demo"]
    context.check_nothing_is_left()


def test_idioms(shared: ContainerContext) -> None:
    """The image has no packages: the program finds them, and libraries they need, in its bucket."""
    folder = shared.bucket / "packages"
    install = ("pip", "install", "-q", "--target", str(folder), "--constraint", str(LOCKED))
    subprocess.run((sys.executable, "-m", "uv", *install, *CLIENTS), check=True)
    (folder / "lib").mkdir()
    for library, place in find_libraries(folder.rglob("*.so")).items():
        if not library.is_relative_to(folder):
            shutil.copy(library, folder / "lib" / place.rpartition("/")[2])
    name = shared.submit(FIND_PACKAGES + idioms.make_trainer(SCRIPTS))
    outcome = idioms.wait(shared, name, shared.out(name) / "0")
    for _, case in idioms.cases({"container": SCRIPTS}):
        outcome.check(case)
