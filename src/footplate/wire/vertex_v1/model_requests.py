"""The requests to the model registry of aiplatform v1."""

from __future__ import annotations

import json
from datetime import datetime

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.model_registry import Change, ModelVersion, Upload
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, describe, format_object
from footplate.wire.vertex_v1.pipeline_models import (
    ExportModel,
    MergeVersionAliases,
    Model,
    UploadModel,
)
from footplate.wire.vertex_v1.rules.model_registry import (
    check_alias_changes,
    check_export,
    check_model,
    check_upload,
)

_OF_VERSION = (
    "displayName",
    "description",
    "versionDescription",
    "versionAliases",
    "artifactUri",
    "labels",
)
"""Fields that are kept apart from the rest of the request."""
_PATCHED = {
    "displayName": "display_name",
    "description": "description",
    "versionDescription": "version_description",
    "labels": "labels",
}
"""Fields that a patch may name, in both spellings."""


def read_upload(body: JsonObject, now: datetime) -> Upload:
    """Reads a request to upload a model. Raises InvalidArgument with all faults."""
    understood = UploadModel.understand(body)
    upload = understood.message
    refuse(understood.with_rules(check_upload(upload)))
    version = _version(upload.model or Model(), now)
    return Upload(version, upload.model_id or "", upload.parent_model or "")


def version_of(request: str, now: datetime) -> ModelVersion:
    """Returns the version in an accepted pipeline's ``modelToUpload``, without its files."""
    return _version(Model.understand(json.loads(request)).message, now)


def _version(model: Model, now: datetime) -> ModelVersion:
    """Makes a version; its number is set when it is stored."""
    rest = {key: value for key, value in model.encode().items() if key not in _OF_VERSION}
    return ModelVersion(
        number=0,
        request=format_object(rest),
        display_name=model.display_name or "",
        create_time=now,
        update_time=now,
        description=model.description or "",
        version_description=model.version_description or "",
        artifact_uri=model.artifact_uri or "",
        aliases=tuple(dict.fromkeys(model.version_aliases or ())),
        labels=tuple((model.labels or {}).items()),
    )


def read_patch(body: JsonObject, mask: str | None) -> Change:
    """Reads a patch of a model; ``mask`` has the fields to set, separated by commas.

    Raises:
        InvalidArgument: the mask is empty, or names fields that a patch can't set; or a value is
            invalid.
    """
    model = Model.decode(body)
    spellings = {snake: camel for camel, snake in _PATCHED.items()} | {k: k for k in _PATCHED}
    names = [text for each in (mask or "").split(",") if (text := each.strip())]
    allowed = ", ".join(_PATCHED)
    if not names:
        raise _wrong("updateMask", f"required: some of {allowed}")
    strange = next((name for name in names if name not in spellings), None)
    if strange is not None:
        raise _wrong("updateMask", f"{describe(strange)} given; allowed: {allowed}")
    fields = {spellings[name] for name in names}
    found = check_model(model, "model")
    refuse(tuple(v for v in found if v.field.removeprefix("model.").split("[")[0] in fields))
    return Change(
        display_name=model.display_name if "displayName" in fields else None,
        description=(model.description or "") if "description" in fields else None,
        version_description=(
            (model.version_description or "") if "versionDescription" in fields else None
        ),
        labels=tuple((model.labels or {}).items()) if "labels" in fields else None,
    )


def read_alias_changes(body: JsonObject) -> tuple[str, ...]:
    """Reads the changes of a version's aliases. Raises InvalidArgument."""
    understood = MergeVersionAliases.understand(body)
    changes = understood.message.version_aliases
    refuse(understood.with_rules(check_alias_changes(changes)))
    return tuple(changes or ())


def read_export(body: JsonObject) -> str:
    """Returns the prefix below which an export copies the files. Raises InvalidArgument."""
    understood = ExportModel.understand(body)
    refuse(understood.with_rules(check_export(understood.message)))
    config = understood.message.output_config
    prefix = (
        config and config.artifact_destination and config.artifact_destination.output_uri_prefix
    )
    if not prefix or not prefix.startswith("gs://"):
        field = "outputConfig.artifactDestination.outputUriPrefix"
        raise _wrong(field, f"{describe(prefix)} given; allowed: gs://BUCKET/PATH")
    return prefix


def _wrong(field: str, said: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, said),))
