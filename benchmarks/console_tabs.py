"""What open tabs of the console cost the server: each follows the changes, and reads its list of
jobs anew when there are some, as the page does.

Processor time of the server in cores, without tabs and with them, while nothing changes and while
labels of a job change all the time.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import re
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.console import fill
from benchmarks.stored import sqlite
from footplate.testing.service import running_service

TICKS = os.sysconf("SC_CLK_TCK")
SEEN = re.compile(rb'"seen": "(\w*)"')


class Tab(threading.Thread):
    """One page that is open and seen; ``reads`` counts how often it read its list anew."""

    def __init__(self, address: str, path: str) -> None:
        super().__init__(daemon=True)
        self.reads = 0
        self._address = address
        self._path = path

    def run(self) -> None:
        with (
            closing(http.client.HTTPConnection(self._address)) as feed,
            closing(http.client.HTTPConnection(self._address)) as pages,
        ):
            seen = self._read(pages, "")
            feed.request("GET", "/console/changes", headers={"Accept": "text/event-stream"})
            events = feed.getresponse()
            while line := events.readline():
                if line.startswith(b"event: change"):
                    seen = self._read(pages, seen)

    def _read(self, pages: http.client.HTTPConnection, seen: str) -> str:
        headers = {"HX-Request": "true", "Accept": "text/html", "Accept-Encoding": "gzip"}
        pages.request("GET", f"{self._path}?seen={seen}", headers=headers)
        answer = pages.getresponse()
        body = answer.read()
        self.reads += 1
        if answer.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        found = SEEN.search(body)
        return seen if found is None else found[1].decode()


def change_labels(address: str, stop: threading.Event, every_s: float) -> None:
    with closing(http.client.HTTPConnection(address)) as client:
        number = 0
        while not stop.wait(every_s):
            number += 1
            body = json.dumps({"labels": {"number": str(number)}})
            client.request(
                "PATCH",
                "/v1/projects/team-000/jobs/census_000000?updateMask=labels",
                body,
                {"Content-Type": "application/json"},
            )
            answer = client.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(pid: int, seconds: float) -> float:
    """In cores."""
    begin, used = time.monotonic(), processor_s(pid)
    time.sleep(seconds)
    return (processor_s(pid) - used) / (time.monotonic() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--tabs", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each measurement")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between changes")
    chosen = parser.parse_args()
    with (
        sqlite() as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        fill(url, chosen.jobs, 20)
        with running_service(Path(folder) / "data", database_url=url) as running:
            address = urlsplit(running.url).netloc
            print("| open tabs | nothing changes | a job changes | reads of a tab per minute |")
            print("|---|---|---|---|")
            time.sleep(5)
            tabs: list[Tab] = []
            for count in (0, 1, chosen.tabs):
                while len(tabs) < count:
                    tabs.append(Tab(address, "/jobs"))
                    tabs[-1].start()
                time.sleep(5)
                quiet = measure(running.pid, chosen.seconds)
                stop, before = threading.Event(), sum(tab.reads for tab in tabs)
                changing = threading.Thread(
                    target=change_labels, args=(address, stop, chosen.every)
                )
                changing.start()
                busy = measure(running.pid, chosen.seconds)
                stop.set()
                changing.join()
                reads = sum(tab.reads for tab in tabs) - before
                of_each = reads / max(1, count) * 60 / chosen.seconds
                print(f"| {count} | {quiet:.3f} | {busy:.3f} | {of_each:.1f} |", flush=True)


if __name__ == "__main__":
    main()
