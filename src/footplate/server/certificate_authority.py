"""The certificate authority of a data directory, made at the first start that needs it.

Its key never leaves the data directory. What it signs is made anew at each start, and stays in
memory: clients need the authority's certificate alone. A start renews the certificate in good time,
with the same key: clients that have the one before trust what is signed until that one's own end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from footplate.server.data_dir import DataDir

LIFE = timedelta(days=3650)
LEAF_LIFE = timedelta(days=825)
"""The longest that all clients accept."""
RENEWED_BEFORE = LEAF_LIFE
"""Its end; so that nothing that it signs outlives it."""
_CLOCK_SKEW = timedelta(days=1)


@dataclass(frozen=True)
class KeyPair:
    """A key and its certificate in PEM, followed by the authority's certificate."""

    key: bytes
    certificate: bytes


class CertificateAuthority:
    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate

    @property
    def certificate(self) -> bytes:
        """Returns the authority's certificate, in PEM, by which clients trust it."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def sign(self, names: Iterable[str], now: datetime) -> KeyPair:
        """Signs a new key for a server of these names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = [_general_name(name) for name in dict.fromkeys(names)]
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            _builder(_name("Footplate"), self._certificate.subject, key, now, LEAF_LIFE)
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(usage, critical=False)
            .add_extension(issuer_key, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        chain = certificate.public_bytes(serialization.Encoding.PEM) + self.certificate
        return KeyPair(_private_pem(key), chain)


def open_authority(data_dir: DataDir, now: datetime) -> CertificateAuthority:
    """Opens the authority, which several servers share if they share the directory.

    Raises:
        FailedPrecondition: the file is damaged; the message has the remedy.
    """
    pem = data_dir.authority(lambda: _make(now))
    try:
        key = serialization.load_pem_private_key(pem, None)
        certificate = x509.load_pem_x509_certificate(pem)
    except ValueError:
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise data_dir.spoilt_authority()
    if certificate.not_valid_after_utc - now < RENEWED_BEFORE:
        pem = _certify(key, now)
        data_dir.replace_authority(pem)
        certificate = x509.load_pem_x509_certificate(pem)
    return CertificateAuthority(key, certificate)


def _make(now: datetime) -> bytes:
    return _certify(ec.generate_private_key(ec.SECP256R1()), now)


def _certify(key: ec.EllipticCurvePrivateKey, now: datetime) -> bytes:
    """Returns the key and the certificate for one file, so that neither ever exists alone."""
    subject = _name("Footplate: certificate authority of a data directory")
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder(subject, subject, key, now, LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    return _private_pem(key) + certificate.public_bytes(serialization.Encoding.PEM)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime,
    life: timedelta,
) -> x509.CertificateBuilder:
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _name(text: str) -> x509.Name:
    organization = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Footplate")
    return x509.Name([organization, x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
