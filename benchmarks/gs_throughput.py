"""Large objects: ``tf.io.gfile`` in a job, uploads and downloads, against a plain file server.

In turn, so that a busy moment meets all of them. Also what the server's memory grows to.
"""

from __future__ import annotations

import http.client
import os
import shutil
import statistics
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from desk import BUCKET, CACHE, submit

from footplate.client.service import Service
from footplate.testing.service import running_service

MEGABYTES = 256
TURNS = 7
PART = 1 << 20
READER = """
import http.client, statistics, time
import tensorflow as tf

def by_tensorflow():
    with tf.io.gfile.GFile("gs://bench/large", "rb") as file:
        return sum(len(part) for part in iter(lambda: file.read({part}), b""))

def by_http():
    connection = http.client.HTTPConnection("127.0.0.1", {port})
    connection.request("GET", "/large")
    answer = connection.getresponse()
    return sum(len(part) for part in iter(lambda: answer.read({part}), b""))

times = dict((name, []) for name in ("gfile", "http"))
for _ in range({turns}):
    for name, read in (("gfile", by_tensorflow), ("http", by_http)):
        started = time.perf_counter()
        assert read() == {size}
        times[name].append(time.perf_counter() - started)
for name in times:
    print(name, statistics.median(times[name]), flush=True)
"""


class Files(SimpleHTTPRequestHandler):
    """Python's own file server, and PUT."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        left = int(self.headers["Content-Length"])
        with open(self.translate_path(self.path), "wb") as file:
            while left:
                part = self.rfile.read(min(left, PART))
                file.write(part)
                left -= len(part)
            if self.path.endswith("synced"):
                file.flush()
                os.fsync(file.fileno())
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def file_server(folder: Path):
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *args: Files(*args, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(place: str, method: str, path: str, file: Path) -> float:
    started = time.perf_counter()
    connection = http.client.HTTPConnection(place)
    with file.open("rb") as body:
        headers = {"Content-Length": str(file.stat().st_size), "Content-Type": "text/plain"}
        connection.blocksize = PART
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
    assert answer.status == 200, answer.status
    return time.perf_counter() - started


def fetch(place: str, path: str) -> float:
    started = time.perf_counter()
    connection = http.client.HTTPConnection(place)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    while answer.read(PART):
        pass
    return time.perf_counter() - started


def memory_kb(pid: int, field: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0])


def measure(place: str, port: int, large: Path) -> dict[str, tuple[float, float]]:
    """Medians in seconds: ours, the file server's."""
    plain = f"127.0.0.1:{port}"
    upload = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=sent"
    pairs = {
        "upload": (
            lambda: send(place, "POST", upload, large),
            lambda: send(plain, "PUT", "/sent", large),
        ),
        "upload, against one that syncs": (
            lambda: send(place, "POST", upload, large),
            lambda: send(plain, "PUT", "/synced", large),
        ),
        "download": (
            lambda: fetch(place, f"/download/storage/v1/b/{BUCKET}/o/large?alt=media"),
            lambda: fetch(plain, "/large"),
        ),
    }
    times = {name: ([], []) for name in pairs}
    for _ in range(TURNS):
        for name, calls in pairs.items():
            for call, taken in zip(calls, times[name], strict=True):
                taken.append(call())
    return {name: tuple(map(statistics.median, both)) for name, both in times.items()}


def read_in_a_job(client: Service, port: int) -> tuple[float, float]:
    values = {"part": PART, "port": port, "turns": TURNS, "size": MEGABYTES << 20}
    name = submit(client, READER.format(**values))
    said = [line.message.split() for line in client.logs(name, follow=True)]
    found = {words[0]: float(words[1]) for words in said if words[:1] in (["gfile"], ["http"])}
    assert len(found) == 2, client.job(name).error_message
    return found["gfile"], found["http"]


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "files"
        folder.mkdir()
        large = folder / "large"
        with large.open("wb") as file, open("/dev/urandom", "rb") as random:
            for _ in range(MEGABYTES):
                file.write(random.read(1 << 20))
        with (
            running_service(Path(temporary) / "data", CACHE) as service,
            file_server(folder) as port,
            Service(service.url) as client,
        ):
            client.storage.create_bucket("bench", BUCKET)
            shutil.copy(large, service.data_dir / "buckets" / BUCKET / "large")
            before = memory_kb(service.pid, "VmRSS")
            found = measure(urlsplit(service.url).netloc, port, large)
            peak = memory_kb(service.pid, "VmHWM")
            found["`tf.io.gfile`, in a job"] = read_in_a_job(client, port)
    print(f"| {MEGABYTES} MiB | Footplate | file server | ratio |\n|---|---|---|---|")
    for name, (ours, plain) in found.items():
        speeds = (f"{MEGABYTES / seconds:.0f} MiB/s" for seconds in (ours, plain))
        print(f"| {name} | {' | '.join(speeds)} | {ours / plain:.2f} |")
    print(f"The server's memory: {before / 1024:.0f} MiB before, at most {peak / 1024:.0f} MiB.")


if __name__ == "__main__":
    main()
