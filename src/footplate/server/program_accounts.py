"""Made-up service accounts of programs that may call the API. Their key opens nothing."""

from __future__ import annotations

import json
from functools import cached_property

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

_EXPONENT = 65537
_BITS = 2048


class ProgramAccounts:
    """``url`` is where tokens are asked for: this server. The key is made when it is needed."""

    def __init__(self, url: str) -> None:
        self._url = url

    def make(self, project: str, email: str) -> str:
        """The content of a key file, as Google's clients read it."""
        account = {
            "type": "service_account",
            "project_id": project,
            "private_key_id": "made-up-by-footplate",
            "private_key": self._key,
            "client_email": email,
            "client_id": "0",
            "auth_uri": f"{self._url}/auth",
            "token_uri": f"{self._url}/token",
        }
        return json.dumps(account, indent=2)

    @cached_property
    def _key(self) -> str:
        key = rsa.generate_private_key(_EXPONENT, _BITS)
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
