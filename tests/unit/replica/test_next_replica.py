"""A launcher that waits for another replica when its own has ended, and takes nothing along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.protocol.launcher import LauncherConfig
from footplate.protocol.promised import Promised
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.launcher import next_replica
from footplate.replica.launcher.launch import Launcher
from footplate.replica.launcher.parent import OK, WARM
from footplate.replica.launcher.prepared_supervisor import PreparedSupervisor
from footplate.replica.launcher.reporter import PATH
from tests.support.http_server import serve

OWN, WAITS, NEXT = "the token of a replica", "the token of none", "the token of the next one"
TICKET = SupervisorTicket(token="of-its-start", restart=3, cache="/a/cache", isolation="auto")
PROGRAM = """\
import json, os, sys
home = sys.argv[2]
open(os.path.join(home, "pid"), "w").close()
with open(os.path.join(home, "gone.part"), "w") as file:
    json.dump({"reason": "it ended"}, file)
os.replace(os.path.join(home, "gone.part"), os.path.join(home, "gone"))
"""
LASTS = f"import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\n{PROGRAM}".replace(
    "with open", "signal.pause()\nwith open"
)
"""Until it is to stop."""


class Prepared(PreparedSupervisor):
    """One that imports, or has ended with a status."""

    def __init__(self, status: int | None = None) -> None:
        super().__init__(pid=0, channel=-1)
        self.status = status

    def poll(self) -> int | None:
        return self.status


class Server:
    """Gives a launcher its replica, which is to ``stop`` or not, and lets it leave at the end."""

    def __init__(self, warm: str = WAITS, *, stop: bool = False) -> None:
        self.warm, self.stop = warm, stop
        self.tokens: list[str] = []
        self.app = Starlette(routes=[Route(PATH, self.answer, methods=["POST"])])

    async def answer(self, request: Request) -> JSONResponse:
        token = request.headers["authorization"].removeprefix("Bearer ")
        self.tokens += [token] if token not in self.tokens else []
        state = (await request.json())["state"]
        if token == WAITS:
            return JSONResponse({"serve": NEXT})
        if token == NEXT or state == "GONE":
            return JSONResponse({"leave": True})
        if state == "IDLE":
            run = {"restart": 0, "ticket": TICKET.encode(), "warm": self.warm}
            return JSONResponse({"run": run})
        return JSONResponse({"stop": self.stop})


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    found = tmp_path / "launchers" / "u-1"
    found.mkdir(parents=True)
    return found


def make_config(scratch: Path, url: str, program: str = PROGRAM, **given: Any) -> LauncherConfig:
    archives = scratch / "archives"
    archives.mkdir(exist_ok=True)
    (archives / "digest.pyz").write_text(program)
    own = {"url": url, "authority": "", "token": OWN, "lease_s": 60, "scratch": str(scratch)}
    return LauncherConfig(**{**own, "supervisor": "digest", "job": "7", "node": "n1", **given})


def live(directory: Path, config: LauncherConfig, *, resumed: bool = False) -> int:
    launcher = Launcher(str(directory), config, "incarnation")
    if resumed:
        launcher.resume()
    return launcher.run()


def read(directory: Path) -> LauncherConfig:
    return next_replica.read_config(str(directory))


def test_the_next_launcher_gets_an_empty_directory_and_another_token(
    directory: Path, tmp_path: Path
) -> None:
    (directory / "left").write_text("by a program")
    with serve(Server().app) as url:
        assert live(directory, make_config(tmp_path, url)) == WARM
    assert [path.name for path in directory.iterdir()] == ["launcher.json"]
    assert directory.stat().st_mode & 0o777 == 0o700
    found = read(directory)
    assert (found.token, found.warm, found.job, found.waits) == (WAITS, WAITS, "7", True)
    assert found.expected == SupervisorTicket(cache="/a/cache", isolation="auto")
    assert "of-its-start" not in (directory / "launcher.json").read_text()


def test_one_of_a_region_that_keeps_none_leaves(directory: Path, tmp_path: Path) -> None:
    with serve(Server(warm="").app) as url:
        assert live(directory, make_config(tmp_path, url)) == OK
    assert not directory.exists()


def test_one_whose_first_process_died_leaves(directory: Path, tmp_path: Path) -> None:
    with serve(Server().app) as url:
        assert live(directory, make_config(tmp_path, url), resumed=True) == OK


def test_one_whose_replica_was_to_stop_leaves(directory: Path, tmp_path: Path) -> None:
    """Somebody may want the machine."""
    with serve(Server(stop=True).app) as url:
        assert live(directory, make_config(tmp_path, url, LASTS)) == OK


def test_one_that_waits_serves_the_replica_that_it_is_given(
    directory: Path, tmp_path: Path
) -> None:
    """A later process of it does so, too; one that isn't to run it after all waits again."""
    server = Server()
    with serve(server.app) as url:
        assert live(directory, make_config(tmp_path, url, token=WAITS, warm=WAITS)) == WARM
    assert server.tokens == [WAITS, NEXT]
    assert read(directory).token == WAITS


def test_what_it_serves_is_written_before_it_calls(directory: Path, tmp_path: Path) -> None:
    config = make_config(tmp_path, "http://127.0.0.1:1", token=WAITS, warm=WAITS)
    Launcher(str(directory), config, "incarnation")._serve(NEXT)
    assert (read(directory).token, read(directory).waits) == (NEXT, False)


def test_what_lies_in_the_way_of_the_next_one_lets_it_leave(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as files that can't be removed."""
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with serve(Server().app) as url:
        assert live(directory, make_config(tmp_path, url)) == OK


def test_one_that_waits_does_not_wait_long_for_a_server(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("footplate.replica.launcher.launch._WARM_LEASE_S", 0.1)
    config = make_config(tmp_path, "http://127.0.0.1:1", token=WAITS, warm=WAITS)
    assert live(directory, config) == OK


def test_isolation_is_found_while_it_waits(directory: Path, tmp_path: Path) -> None:
    config = make_config(tmp_path, "", expected=next_replica.strip(TICKET))
    next_replica.probe(str(directory), config)
    found = next_replica.find_promised(str(directory), config, next_replica.strip(TICKET))
    assert isinstance(found, Promised)
    assert found.containment_mode
    changed = SupervisorTicket(**{**TICKET.encode(), "isolation": "namespace"})
    assert next_replica.find_promised(str(directory), config, next_replica.strip(changed)) is None
    assert json.loads((directory / "isolation.json").read_text()) == found.encode()


def test_before_that_no_replica_is_asked_for(directory: Path, tmp_path: Path) -> None:
    config = make_config(tmp_path, "http://127.0.0.1:1", token=WAITS, warm=WAITS)
    launcher = Launcher(str(directory), config, "incarnation", Prepared())
    assert not launcher._may_report()
    (directory / "isolation.json").touch()
    assert launcher._may_report()


def test_a_supervisor_that_ended_before_that_holds_up_no_replica(
    directory: Path, tmp_path: Path
) -> None:
    config = make_config(tmp_path, "http://127.0.0.1:1", token=WAITS, warm=WAITS)
    assert Launcher(str(directory), config, "incarnation", Prepared(0))._may_report()


def test_without_an_earlier_replica_nothing_is_found(directory: Path, tmp_path: Path) -> None:
    config = make_config(tmp_path, "")
    next_replica.probe(str(directory), config)
    assert list(directory.iterdir()) == []
    assert next_replica.find_promised(str(directory), config, TICKET) is None
