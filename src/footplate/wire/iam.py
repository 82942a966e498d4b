"""The requests of IAM and of service usage."""

from footplate.wire.json_model import JsonModel
from footplate.wire.scalars import Int32, Text


class TestIamPermissionsRequest(JsonModel):
    permissions: list[Text] | None = None


class GetPolicyOptions(JsonModel):
    requested_policy_version: Int32 | None = None


class GetIamPolicyRequest(JsonModel):
    options: GetPolicyOptions | None = None


class BatchEnableServicesRequest(JsonModel):
    service_ids: list[Text] | None = None
