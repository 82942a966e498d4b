"""TLS contexts for Google's hosts."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from footplate.server.certificate_authority import open_authority
from footplate.server.data_dir import DataDir
from footplate.server.leaf_certificates import MAX_KEPT, RENEWED_AFTER, LeafCertificates

HOST = "us-central1-aiplatform.googleapis.com"


class Rig:
    def __init__(self, folder: Path) -> None:
        self.now = datetime.now(UTC) - 2 * RENEWED_AFTER  # handshakes look at the real clock
        self.authority = open_authority(DataDir(folder), self.now)
        self.leaves = LeafCertificates(lambda: self.authority, folder, lambda: self.now)

    def shake_hands(
        self, context: ssl.SSLContext, host: str, offered: list[str]
    ) -> tuple[str | None, bytes | None]:
        """The protocol that a client gets, and the server's certificate."""
        trusting = ssl.create_default_context(cadata=self.authority.certificate.decode())
        trusting.set_alpn_protocols(offered)
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting.wrap_bio(to_client, to_server, server_hostname=host)
        server = context.wrap_bio(to_server, to_client, server_side=True)
        for _ in range(4):
            for side in (client, server):
                try:
                    side.do_handshake()
                except ssl.SSLWantReadError:
                    continue
        return client.selected_alpn_protocol(), client.getpeercert(binary_form=True)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["h2"], "h2"),
        (["grpc-exp", "h2"], "h2"),
        (["h2", "http/1.1"], "http/1.1"),
        (["http/1.1"], "http/1.1"),
        (["spdy/3"], None),
    ],
)
def test_only_who_knows_nothing_else_gets_http2(
    rig: Rig, offered: list[str], chosen: str | None
) -> None:
    assert rig.shake_hands(rig.leaves.context(HOST), HOST, offered)[0] == chosen


def test_a_leaf_is_for_its_host_alone(rig: Rig) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        rig.shake_hands(rig.leaves.context(HOST), "storage.googleapis.com", ["h2"])


def test_leaves_are_kept_and_renewed(rig: Rig) -> None:
    first = rig.leaves.context(HOST)
    rig.now += RENEWED_AFTER
    assert rig.leaves.context(HOST) is first
    rig.now += timedelta(seconds=1)
    second = rig.leaves.context(HOST)
    shown = {rig.shake_hands(each, HOST, ["h2"])[1] for each in (first, second)}
    assert len(shown) == 2


def test_the_least_recently_used_goes_first(rig: Rig) -> None:
    first = rig.leaves.context(HOST)
    for number in range(MAX_KEPT - 1):
        rig.leaves.context(f"b{number}.storage.googleapis.com")
    assert rig.leaves.context(HOST) is first
    rig.leaves.context("one-more.storage.googleapis.com")
    assert rig.leaves.context(HOST) is first


def test_no_key_stays_in_a_file(rig: Rig, tmp_path: Path) -> None:
    rig.leaves.context(HOST)
    assert [path.name for path in tmp_path.iterdir()] == ["certificate_authority.pem"]
