"""A fake service account: a key file that grants nothing.

Clients that look for Google credentials find it in place of real ones. Its key is a true RSA
key, since the clients read it; its ``token_uri`` leads to Footplate.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BITS = 1024
"""Few, since it guards nothing; the least that the clients' libraries accept."""
_EXPONENT = 65537
_ROUNDS = 8
_SMALL_PRIMES = tuple(
    n for n in range(3, 1000, 2) if all(n % divisor for divisor in range(3, int(n**0.5) + 1, 2))
)
_RSA_OID = bytes.fromhex("06092a864886f70d0101010500")
"""AlgorithmIdentifier's content: rsaEncryption, NULL."""


def write_account(path: Path, url: str, project: str, random_bits: Callable[[int], int]) -> None:
    """Creates the account's file, atomically, if it doesn't exist."""
    if not path.exists():
        write_once(path, json.dumps(make_account(url, project, random_bits), indent=2))


def write_once(path: Path, content: str | bytes) -> None:
    """Creates the file atomically, for this user alone, if it does not exist."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    os.replace(file.name, path)  # noqa: PTH105 - the name of a file, not a Path


def make_account(url: str, project: str, random_bits: Callable[[int], int]) -> dict[str, str]:
    """Returns a made-up service account. ``random_bits`` returns a random number."""
    email = "footplate@example.invalid"
    return {
        "type": "service_account",
        "project_id": project,
        "private_key_id": "made-up-by-footplate",
        "private_key": make_private_key(random_bits),
        "client_email": email,
        "client_id": "0",
        "auth_uri": f"{url}/auth",
        "token_uri": f"{url}/token",
    }


def make_private_key(random_bits: Callable[[int], int]) -> str:
    """Returns a new RSA key as PKCS #8 in PEM."""
    while True:
        p, q = _prime(_BITS // 2, random_bits), _prime(_BITS // 2, random_bits)
        totient = (p - 1) * (q - 1)
        if p != q and gcd(_EXPONENT, totient) == 1:
            break
    d = pow(_EXPONENT, -1, totient)
    numbers = (0, p * q, _EXPONENT, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
    pkcs1 = _der(0x30, b"".join(_integer(number) for number in numbers))
    pkcs8 = _der(0x30, _integer(0) + _der(0x30, _RSA_OID) + _der(0x04, pkcs1))
    text = base64.b64encode(pkcs8).decode()
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    kind = "PRIVATE KEY"
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])


def _prime(bits: int, random_bits: Callable[[int], int]) -> int:
    """Returns a prime with both highest bits set: products of two have twice the bits."""
    while True:
        candidate = random_bits(bits) | (3 << (bits - 2)) | 1
        if all(candidate % small for small in _SMALL_PRIMES) and _is_prime(candidate, random_bits):
            return candidate


def _is_prime(number: int, random_bits: Callable[[int], int]) -> bool:
    """Returns whether the number is probably prime, by the test of Miller and Rabin."""
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    odd = (number - 1) >> twos
    for _ in range(_ROUNDS):
        power = pow(2 + random_bits(64), odd, number)
        if power in {1, number - 1}:
            continue
        for _ in range(twos - 1):
            power = pow(power, 2, number)
            if power == number - 1:
                break
        else:
            return False
    return True


def _integer(number: int) -> bytes:
    return _der(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content
