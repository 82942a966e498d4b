"""The made-up service account: real enough for the clients that read it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from google.oauth2.service_account import Credentials

from footplate.cli.fake_credentials import make_account, make_private_key, write_account


def seeded(seed: int) -> Callable[[int], int]:
    return random.Random(seed).getrandbits  # noqa: S311 - the same each time


def test_the_key_is_a_sound_rsa_key() -> None:
    for seed in range(5):
        text = make_private_key(seeded(seed))
        key = load_pem_private_key(text.encode(), None)  # checks that its numbers fit together
        assert isinstance(key, RSAPrivateKey)
        assert key.key_size == 1024


def test_googles_client_takes_it() -> None:
    account = make_account("http://127.0.0.1:1", "demo", seeded(0))
    kind: Any = Credentials
    credentials = kind.from_service_account_info(account)
    assert credentials.project_id == "demo"
    assert credentials.signer.sign(b"x")


def test_the_file_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "account.json"
    write_account(path, "http://127.0.0.1:1", "demo", seeded(0))
    first = path.read_text()
    write_account(path, "http://127.0.0.1:1", "demo", seeded(1))
    assert path.read_text() == first
    assert json.loads(first)["token_uri"] == "http://127.0.0.1:1/token"
    assert [entry.name for entry in path.parent.iterdir()] == ["account.json"]
