"""The requests of IAM that Google's APIs have in common."""

from footplate.wire.json_model import JsonModel
from footplate.wire.scalars import Text


class TestIamPermissionsRequest(JsonModel):
    permissions: list[Text] | None = None
