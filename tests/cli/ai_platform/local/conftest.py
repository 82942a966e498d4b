"""A trainer's folder, and a private service that the fake stands in for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from footplate.client.service import Service
from tests.support.fake_service import FakeService

NAME = "projects/local/jobs/local_train"


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    folder = tmp_path / "code" / "trainer"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "task.py").write_text("print('hello')\n")
    return folder


@pytest.fixture
def rooms(fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For how many replicas private services were started, each of which is the fake."""
    asked: list[int] = []

    @contextmanager
    def private_service(
        replicas: int, *, gpus: bool = False, seen: Path | None = None
    ) -> Iterator[Callable[[], Service]]:
        asked.append(replicas)
        yield lambda: Service(fake.url)

    module = "footplate.cli.local_runs.job_run"
    monkeypatch.setattr(f"{module}.private_service", private_service)
    return asked


@pytest.fixture
def end(fake: FakeService) -> Callable[..., None]:
    """Let the job end in ``state`` when its lines have been read."""

    def end(state: str, *lines: tuple[str, str], cause: str = "") -> None:
        class Lines(list[dict[str, object]]):
            def __iter__(self) -> Iterator[dict[str, object]]:
                fake.jobs[NAME] |= {"state": state, "errorMessage": cause}
                return iter(
                    {"cursor": number, "replica": replica, "message": message}
                    for number, (replica, message) in enumerate(lines, 1)
                )

        fake.lines[NAME] = Lines()

    return end
