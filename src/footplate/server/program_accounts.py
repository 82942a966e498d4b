"""Made-up service accounts of programs that may call the API. Their key opens nothing."""

from __future__ import annotations

import json
from functools import cached_property

_EXPONENT = 65537
_BITS = 2048


class ProgramAccounts:
    """Service accounts for programs, whose private key is created when it is needed."""

    def make(self, project: str, email: str, tokens: str) -> str:
        """Returns the content of a key file for Google's clients. ``tokens`` is the URL where
        they request tokens.
        """
        account = {
            "type": "service_account",
            "project_id": project,
            "private_key_id": "made-up-by-footplate",
            "private_key": self._key,
            "client_email": email,
            "client_id": "0",
            "auth_uri": tokens.replace("/token", "/auth", 1),
            "token_uri": tokens,
        }
        return json.dumps(account, indent=2)

    @cached_property
    def _key(self) -> str:
        # Imported here: it takes memory that most servers never need.
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        key = rsa.generate_private_key(_EXPONENT, _BITS)
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
