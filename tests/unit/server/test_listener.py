"""Where a server listens, and what is said where it can't."""

from __future__ import annotations

from contextlib import closing

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.server.listener import listen, url_of


def test_a_taken_port_is_named_with_the_way_out() -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidArgument) as caught:
            listen("127.0.0.1", port)
    assert str(caught.value) == (
        f"port: {port} given: another program listens on this port; choose another --port, "
        "or 0 for a free port"
    )


def test_where_any_port_will_do_the_last_one_is_taken_again_while_it_is_free() -> None:
    with closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with closing(listen("127.0.0.1", 0, last=(port,))) as second:
            assert second.getsockname()[1] != port
    with closing(listen("127.0.0.1", 0, last=(port,))) as again:
        assert again.getsockname()[1] == port
        with closing(listen("127.0.0.1", 0)) as chosen, pytest.raises(InvalidArgument):
            listen("127.0.0.1", port, last=(chosen.getsockname()[1],))


@pytest.mark.parametrize("host", ["no-such-host.invalid", "203.0.113.5"])
def test_a_host_that_is_not_this_machine_is_named_with_the_way_out(host: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        listen(host, 0)
    told = str(caught.value)
    assert told.startswith(f"host: '{host}' given, which is not an address of this machine: ")
    assert told.endswith("; choose another --host, such as 127.0.0.1")


@pytest.mark.parametrize(
    ("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("localhost", "127.0.0.1")]
)
def test_its_url_is_one_that_programs_of_this_machine_reach(host: str, reached: str) -> None:
    with closing(listen(host, 0)) as listener:
        assert url_of(listener) == f"http://{reached}:{listener.getsockname()[1]}"
