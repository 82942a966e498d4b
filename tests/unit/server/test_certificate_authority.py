"""The certificate authority of a data directory."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from footplate.domain.errors import FailedPrecondition
from footplate.server.certificate_authority import (
    LEAF_LIFE,
    LIFE,
    RENEWED_BEFORE,
    open_authority,
)
from footplate.server.data_dir import DataDir

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def data_dir(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path)


def check(
    chain: bytes, authority: bytes, subject: x509.DNSName | x509.IPAddress, now: datetime = NOW
) -> None:
    """Raises VerificationError: a client that trusts the authority doesn't take it for that."""
    store = Store(x509.load_pem_x509_certificates(authority))
    leaf, *others = x509.load_pem_x509_certificates(chain)
    PolicyBuilder().store(store).time(now).build_server_verifier(subject).verify(leaf, others)


def test_what_it_signs_is_valid_for_the_names_alone(data_dir: DataDir) -> None:
    authority = open_authority(data_dir, NOW)
    chain = authority.sign(("localhost", "127.0.0.1", "*.googleapis.com"), NOW).certificate
    check(chain, authority.certificate, x509.DNSName("localhost"))
    check(chain, authority.certificate, x509.DNSName("us-central1-aiplatform.googleapis.com"))
    check(chain, authority.certificate, x509.IPAddress(ip_address("127.0.0.1")))
    with pytest.raises(VerificationError):
        check(chain, authority.certificate, x509.DNSName("example.com"))
    with pytest.raises(VerificationError):
        check(chain, authority.certificate, x509.DNSName("localhost"), NOW + 2 * LEAF_LIFE)


def test_it_is_made_once_and_readable_by_its_user_alone(data_dir: DataDir) -> None:
    first, second = open_authority(data_dir, NOW), open_authority(data_dir, NOW)
    assert first.certificate == second.certificate
    assert stat.S_IMODE(data_dir.authority_file.stat().st_mode) == 0o600
    chain = second.sign(("localhost",), NOW).certificate
    check(chain, first.certificate, x509.DNSName("localhost"))


def test_a_start_renews_it_in_good_time_and_clients_of_the_one_before_go_on(
    data_dir: DataDir,
) -> None:
    first = open_authority(data_dir, NOW)
    almost = NOW + LIFE - RENEWED_BEFORE
    assert open_authority(data_dir, almost).certificate == first.certificate

    later = almost + timedelta(days=1)
    renewed = open_authority(data_dir, later)

    assert renewed.certificate != first.certificate
    assert open_authority(data_dir, later).certificate == renewed.certificate
    assert stat.S_IMODE(data_dir.authority_file.stat().st_mode) == 0o600
    chain = renewed.sign(("localhost",), later).certificate
    for trusted in (first.certificate, renewed.certificate):
        check(chain, trusted, x509.DNSName("localhost"), later + timedelta(days=1))
    after = NOW + LIFE + timedelta(days=1)
    chain = renewed.sign(("localhost",), after).certificate
    check(chain, renewed.certificate, x509.DNSName("localhost"), after)
    with pytest.raises(VerificationError):
        check(chain, first.certificate, x509.DNSName("localhost"), after)


def test_another_directory_has_another_one(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    mine, other = (open_authority(DataDir(d), NOW) for d in (tmp_path, tmp_path / "other"))
    chain = other.sign(("localhost",), NOW).certificate
    with pytest.raises(VerificationError):
        check(chain, mine.certificate, x509.DNSName("localhost"))


@pytest.mark.parametrize("content", [b"", b"spoilt", b"-----BEGIN PRIVATE KEY-----\n"])
def test_a_spoilt_file_is_named_with_the_way_out(data_dir: DataDir, content: bytes) -> None:
    data_dir.authority_file.write_bytes(content)
    with pytest.raises(
        FailedPrecondition, match=r"certificate_authority\.pem is damaged: put the file"
    ):
        open_authority(data_dir, NOW)
