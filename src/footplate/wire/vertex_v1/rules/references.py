"""Rules for names of other resources."""

from __future__ import annotations

import re
from collections.abc import Iterator

from footplate.domain.errors import Violation
from footplate.wire.shared_rules import ACCOUNT, KEY, LOCATION, Form, resource
from footplate.wire.vertex_v1.models import CustomJobSpec, EncryptionSpec

_CONTEXT = resource(f"{LOCATION}/metadataStores/STORE/contexts/CONTEXT")
_NAME = Form(
    "1 to 63 lowercase letters, digits and dashes; the first is a letter, the last no dash",
    re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
)
_MODEL = resource(f"{LOCATION}/models/MODEL")
_REGION = Form("the name of a region, such as us-central1", re.compile(r"[a-z]+(-[a-z]+)*[0-9]*"))
_FORMS = {
    "serviceAccount": ACCOUNT,
    "network": resource("projects/PROJECT/global/networks/NETWORK"),
    "tensorboard": resource(f"{LOCATION}/tensorboards/TENSORBOARD"),
    "persistentResourceId": _NAME,
    "experiment": _CONTEXT,
    "experimentRun": _CONTEXT,
    "protectedArtifactLocationId": _REGION,
}


def check_references(spec: CustomJobSpec, at: str) -> Iterator[Violation]:
    given = {
        "serviceAccount": spec.service_account,
        "network": spec.network,
        "tensorboard": spec.tensorboard,
        "persistentResourceId": spec.persistent_resource_id,
        "experiment": spec.experiment,
        "experimentRun": spec.experiment_run,
        "protectedArtifactLocationId": spec.protected_artifact_location_id,
    }
    for name, form in _FORMS.items():
        yield from form.check(given[name], f"{at}.{name}")
    for index, name in enumerate(spec.reserved_ip_ranges or ()):
        yield from _each(_NAME, name, f"{at}.reservedIpRanges[{index}]")
    for index, name in enumerate(spec.models or ()):
        yield from _each(_MODEL, name, f"{at}.models[{index}]")


def check_encryption(encryption: EncryptionSpec | None) -> Iterator[Violation]:
    """Yields a fault of the key. Some clients send an empty message where they name none."""
    if encryption is not None:
        yield from KEY.check(encryption.kms_key_name, "encryptionSpec.kmsKeyName")


def _each(form: Form, given: str, field: str) -> Iterator[Violation]:
    """Yields a fault of a list's element, which, unlike a field, must not be empty."""
    if given:
        yield from form.check(given, field)
    else:
        yield Violation(field, f'"" given; allowed: {form.shown}')
