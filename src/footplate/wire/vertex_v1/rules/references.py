"""The forms of names that refer to what lies elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.wire.vertex_v1.models import CustomJobSpec, EncryptionSpec


@dataclass(frozen=True)
class Form:
    """``shown`` is how messages write it."""

    shown: str
    pattern: re.Pattern[str]

    def check(self, given: str | None, field: str) -> Iterator[Violation]:
        """An empty text is none at all."""
        if given and not self.pattern.fullmatch(given):
            yield Violation(field, f"{describe(given)} given; allowed: {self.shown}")


def _resource(shown: str) -> Form:
    """Each word in capitals stands for one segment of the name."""
    return Form(shown, re.compile(re.sub("[A-Z_]+", r"[^/\\s]+", shown)))


_LOCATION = "projects/PROJECT/locations/LOCATION"
_CONTEXT = _resource(f"{_LOCATION}/metadataStores/STORE/contexts/CONTEXT")
_NAME = Form(
    "1 to 63 lowercase letters, digits and dashes, first a letter, last no dash",
    re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
)
_ACCOUNT = Form(
    "the e-mail address of a service account", re.compile(r"[^@\s]+@[^@\s]+|[0-9]{1,30}")
)
_KEY = _resource(f"{_LOCATION}/keyRings/KEY_RING/cryptoKeys/KEY")
_MODEL = _resource(f"{_LOCATION}/models/MODEL")
_REGION = Form("the name of a region, such as us-central1", re.compile(r"[a-z]+(-[a-z]+)*[0-9]*"))
_FORMS = {
    "serviceAccount": _ACCOUNT,
    "network": _resource("projects/PROJECT/global/networks/NETWORK"),
    "tensorboard": _resource(f"{_LOCATION}/tensorboards/TENSORBOARD"),
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
    if encryption is None:
        return
    field = "encryptionSpec.kmsKeyName"
    if not encryption.kms_key_name:
        yield Violation(field, f"required: {_KEY.shown}")
    yield from _KEY.check(encryption.kms_key_name, field)


def _each(form: Form, given: str, field: str) -> Iterator[Violation]:
    """In a list an empty text is an element, and a wrong one."""
    if given:
        yield from form.check(given, field)
    else:
        yield Violation(field, f'"" given; allowed: {form.shown}')
