"""Calls on a study of Vizier while it holds many trials, against the bare health check.

A study is filled with trials that nobody works at, so that no model is fitted. Then calls of each
kind and health checks are made in turn, one after the other, of a service in a process of its own.
"""

from __future__ import annotations

import http.client
import json
import statistics
import time
from contextlib import closing
from urllib.parse import urlsplit

from desk import service

HELD = (10, 1_000, 4_000)
ROUNDS = 100
PLACE = "/v1/projects/bench/locations/us-central1/studies"
SPEC = {
    "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {"parameterId": name, "doubleValueSpec": {"minValue": 0.0, "maxValue": 1.0}}
        for name in ("x", "y", "z")
    ],
}
TRIAL = {"parameters": [{"parameterId": name, "value": 0.5} for name in ("x", "y", "z")]}
LOSS = {"metrics": [{"metricId": "loss", "value": 0.5}]}


class Study:
    """One that is filled further and further; the calls are timed, in ms."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        made = self.call("POST", PLACE, {"displayName": "held", "studySpec": SPEC})
        self._trials = f"/v1/{made['name']}/trials"
        self.held = 0

    def call(self, method: str, path: str, body: object = None) -> dict[str, str]:
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != http.client.OK:
            raise SystemExit(f"{method} {path}: {answer.status} {content.decode()}")
        return json.loads(content)

    def fill(self, count: int) -> None:
        while self.held < count:
            self.bring()

    def bring(self) -> None:
        self.call("POST", self._trials, TRIAL)
        self.held += 1

    def measure(self) -> None:
        """Another step each time, of a trial that has been there all the time."""
        step = {"stepCount": str(self.held), **LOSS}
        self.call("POST", f"{self._trials}/1:addTrialMeasurement", {"measurement": step})

    def get(self) -> None:
        self.call("GET", f"{self._trials}/2")

    def health(self) -> None:
        self.call("GET", "/healthz")


def main() -> None:
    kinds = ("health", "get", "measure", "bring")
    print(f"{'trials':>8}" + "".join(f"{kind:>18}" for kind in kinds))
    with (
        service() as (running, _),
        closing(http.client.HTTPConnection(urlsplit(running.url).netloc)) as connection,
    ):
        study = Study(connection)
        for count in HELD:
            study.fill(count)
            print_row(count, study, kinds)


def print_row(count: int, study: Study, kinds: tuple[str, ...]) -> None:
    """Median milliseconds, and how many times a health check that is."""
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind in kinds:
            began = time.perf_counter()
            getattr(study, kind)()
            times[kind].append(1000 * (time.perf_counter() - began))
    medians = {kind: statistics.median(found) for kind, found in times.items()}
    cells = (f"{ms:9.2f} ({ms / medians['health']:5.1f})" for ms in medians.values())
    print(f"{count:8}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
