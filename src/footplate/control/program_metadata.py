"""The metadata server of programs: what it says to each start of a replica, and its credentials."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from footplate.control.tokens import Bearer, derive
from footplate.domain import instance_metadata
from footplate.domain.catalogue import Region
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.formatting import quoted
from footplate.domain.instance_metadata import ACCOUNT, IDENTITY, TOKEN, Instance
from footplate.domain.jobs import Job
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from footplate.domain.instance_metadata import Node

ISSUER = "https://footplate.invalid"
"""The issuer of identity tokens, so that nobody takes them for Google's."""
_LIFETIME_S = 3600
"""Clients ask again some minutes before its end; the key itself lives as long as the replica."""


class ProgramMetadata:
    """The metadata server of programs.

    ``find`` returns the job and the start of a replica for a key to the buckets, and raises a
    ServiceError for any other key. This key also is the access token: it allows using the buckets
    and writing to the job's log, and nothing else.
    """

    def __init__(
        self,
        find: Callable[[str], tuple[Job, Bearer]],
        regions: Mapping[str, Region],
        secret: bytes,
        clock: Clock,
    ) -> None:
        self._find = find
        self._regions = regions
        self._identity_key = derive(secret, "programs' identity tokens")
        self._clock = clock

    def read(self, key: str, path: str) -> Node:
        """Returns the metadata at ``path``. Raises NotFound, and what ``find`` raises."""
        tree = instance_metadata.describe(self._instance(key))
        found = instance_metadata.find(tree, path)
        if found is None:
            raise NotFound(f"this metadata server has no {quoted(path)}")
        return found

    def make(self, key: str, path: str, audience: str) -> JsonObject | str:
        """Returns the access token or the identity token that ``path`` asks for.

        Raises InvalidArgument: an identity token without an audience; also what ``read`` raises.
        """
        self.read(key, path)
        if instance_metadata.made_for(path) == TOKEN:
            return {"access_token": key, "expires_in": _LIFETIME_S, "token_type": "Bearer"}
        if not audience:
            wanted = "required: the audience of the identity token"
            raise InvalidArgument.of((Violation("audience", wanted),))
        return self._sign(self._instance(key).email, audience)

    def _instance(self, key: str) -> Instance:
        job, bearer = self._find(key)
        region = self._regions.get(job.spec.region)
        zone = region.zones[0].name if region is not None else f"{job.spec.region}-a"
        pools = {name: pool for name, pool, _ in job.spec.replicas()}
        return Instance(
            job.name.project,
            job.spec.region,
            zone,
            bearer.replica,
            f"{bearer.attempt_id}.{bearer.replica}",
            pools[bearer.replica].machine.machine_type,
            job.spec.service_account or ACCOUNT,
        )

    def _sign(self, email: str, audience: str) -> str:
        """Makes an identity token; clients read its expiry, and only this service can verify it."""
        now = int(self._clock.now().timestamp())
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "azp": email,
            "sub": email,
            "email": email,
            "email_verified": False,
            "iat": now,
            "exp": now + _LIFETIME_S,
        }
        parts = ({"alg": "HS256", "typ": "JWT", "kid": f"footplate-{IDENTITY}"}, claims)
        said = ".".join(_encode(json.dumps(part).encode()) for part in parts)
        mac = hmac.new(self._identity_key, said.encode(), hashlib.sha256).digest()
        return f"{said}.{_encode(mac)}"


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
