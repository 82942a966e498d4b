"""Files that say whom programs trust: PEM for most, a key store for Java."""

from __future__ import annotations

import hashlib
import re
import ssl
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)
_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
_PASSWORD = "changeit"  # noqa: S105  Java's own; the digest that it is part of guards nothing
_SALT = b"Mighty Aphrodite"


def machine_roots() -> str:
    """Returns the authorities that Python's own clients trust on this machine, in PEM."""
    # Imported here: a server, which names the variables only to take them away, needs none of it.
    import httpx

    found = ssl.create_default_context().get_ca_certs(binary_form=True)
    found += httpx.create_ssl_context(trust_env=False).get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, dict.fromkeys(found)))


def java_key_store(pem: str) -> bytes:
    """Returns the certificates in Java's own format (JKS), which all of its versions read."""
    certificates = [ssl.PEM_cert_to_DER_cert(block) for block in _BLOCK.findall(pem)]
    content = struct.pack(">III", _MAGIC, _VERSION, len(certificates))
    content += b"".join(_entries(certificates))
    password = _PASSWORD.encode("utf-16-be")
    # SHA-1 is what the format has.
    return content + hashlib.sha1(password + _SALT + content, usedforsecurity=False).digest()


def _entries(certificates: Sequence[bytes]) -> list[bytes]:
    return [
        struct.pack(">I", _TRUSTED)
        + _text(f"footplate{number}")
        + struct.pack(">Q", 0)  # when it was added
        + _text("X.509")
        + struct.pack(">I", len(certificate))
        + certificate
        for number, certificate in enumerate(certificates)
    ]


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()
