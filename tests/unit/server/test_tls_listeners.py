"""The ports for gRPC and the proxy: which they are, and what they load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from footplate.domain.errors import FailedPrecondition, InvalidArgument
from footplate.server.data_dir import DataDir
from footplate.server.listener import listen
from footplate.server.tls_listeners import TlsListeners
from footplate.settings import NONE, Settings, load_settings

Make = Callable[..., TlsListeners]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def start(name: str = "data", **settings: int | str) -> TlsListeners:
            data_dir = DataDir(tmp_path / name)
            data_dir.make()
            chosen = Settings(data_dir.root, **settings)  # type: ignore[arg-type]  # by name
            listeners = TlsListeners(chosen, data_dir, "http://127.0.0.1:1", str)
            return stack.enter_context(closing(listeners))

        yield start


def ports(listeners: TlsListeners) -> list[int | None]:
    return [listeners.grpc_port, listeners.proxy_port]


def test_several_services_need_no_settings(make: Make) -> None:
    found = [*ports(make("one")), *ports(make("two"))]
    assert None not in found
    assert len(set(found)) == 4


def test_a_service_comes_back_at_its_ports(make: Make) -> None:
    """Shells know them."""
    first = make()
    before = ports(first)
    first.close()
    assert ports(make()) == before


def test_a_taken_port_that_was_asked_for_is_refused(make: Make) -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidArgument, match=f"proxy_port: {port} given: another program"):
            make(grpc_port=NONE, proxy_port=port)


def test_both_can_be_turned_off(make: Make) -> None:
    assert ports(make(grpc_port=NONE, proxy_port=NONE)) == [None, None]


def test_a_spoilt_authority_stops_the_start(make: Make, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "certificate_authority.pem").write_text("spoilt")
    with pytest.raises(FailedPrecondition, match="remove it to get a new certificate authority"):
        make(grpc_port=NONE, proxy_port=NONE)


@pytest.mark.parametrize("given", ["off", "-1", "65536", ""])
def test_what_a_port_may_be(given: str, tmp_path: Path) -> None:
    options = {"data_dir": tmp_path, "grpc_port": given or "x"}
    with pytest.raises(InvalidArgument, match="auto, none, or a whole number from 0 to 65535"):
        load_settings({}, options)


def test_an_idle_server_loads_no_library_for_them(tmp_path: Path) -> None:
    """They would be a fifth of its memory."""
    code = """if True:
        import sys
        from pathlib import Path
        from footplate.server import serving
        from footplate.server.data_dir import DataDir
        from footplate.settings import Settings
        data_dir = DataDir(Path(sys.argv[1]))
        data_dir.make()
        service = serving.Service(Settings(data_dir.root), data_dir, "http://127.0.0.1:1", str)
        print(service.tls.proxy_port is not None)
        print(sorted({"cryptography", "grpc", "google.protobuf"} & set(sys.modules)))
        service.close()
    """
    words = (sys.executable, "-c", code, str(tmp_path))
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert shown == "True\n[]\n"
