"""The rules for models, their versions and aliases.

Source: the service's API reference for Model, UploadModelRequest and MergeVersionAliasesRequest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import LOCATION, check_labels, resource
from footplate.wire.uris import check_directory
from footplate.wire.vertex_v1.pipeline_models import ExportModel, Model, UploadModel
from footplate.wire.vertex_v1.rules.jobs import MAX_DISPLAY_NAME

_MODEL_ID = re.compile(r"[a-z_][a-z0-9_-]{0,62}|[1-9][0-9]{0,18}")
_ALIAS = re.compile(r"[a-z][a-zA-Z0-9-]{0,126}[a-z0-9]")
_PARENT = resource(f"{LOCATION}/models/MODEL")
EXPORT_FORMAT = "custom-trained"
MAX_ALIASES = 100


def check_upload(upload: UploadModel) -> Iterator[Violation]:
    if upload.model is None:
        yield Violation("model", "required: the model to upload")
    else:
        yield from check_model(upload.model, "model")
        artifacts = upload.model.artifact_uri
        if artifacts:
            yield from check_directory(artifacts, "model.artifactUri")
    yield from check_place(upload.model_id, upload.parent_model)


def check_model(model: Model, at: str) -> Iterator[Violation]:
    name = model.display_name
    if not name or len(name) > MAX_DISPLAY_NAME:
        given = f"{len(name)} characters given" if name else "required"
        yield Violation(f"{at}.displayName", f"{given}; allowed: 1 to {MAX_DISPLAY_NAME}")
    aliases = model.version_aliases or []
    if len(aliases) > MAX_ALIASES:
        given = f"{len(aliases)} given"
        yield Violation(f"{at}.versionAliases", f"{given}; allowed: at most {MAX_ALIASES}")
    for index, alias in enumerate(aliases[:MAX_ALIASES]):
        yield from _check_alias(alias, f"{at}.versionAliases[{index}]")
    if model.container_spec is not None and not model.container_spec.image_uri:
        field = f"{at}.containerSpec.imageUri"
        yield Violation(field, "required: the image that serves the model elsewhere")
    yield from check_labels(model.labels or {}, f"{at}.labels")


def check_place(model_id: str | None, parent: str | None) -> Iterator[Violation]:
    """Yields faults of an upload's target: a new model, or ``parent``, which gets a new version."""
    yield from _PARENT.check(parent, "parentModel")
    if model_id and parent:
        yield Violation(
            "modelId",
            "given together with parentModel, which contains an id; allowed: one of the two",
        )
    elif model_id and not _MODEL_ID.fullmatch(model_id):
        rule = "at most 63 lowercase letters, digits, _ and -; the first is a letter or _"
        yield Violation("modelId", f"{describe(model_id)} given; allowed: {rule}")


def check_alias_changes(changes: list[str] | None) -> Iterator[Violation]:
    if not changes:
        yield Violation(
            "versionAliases",
            "required: aliases to add, and aliases to remove with a - before each",
        )
    for index, change in enumerate(changes or ()):
        yield from _check_alias(change.removeprefix("-"), f"versionAliases[{index}]")


def check_export(export: ExportModel) -> Iterator[Violation]:
    config = export.output_config
    destination = config and config.artifact_destination
    if config is not None and config.image_destination is not None:
        said = "Footplate exports no images; give artifactDestination"
        yield Violation("outputConfig.imageDestination", said)
    elif not (destination and destination.output_uri_prefix):
        field = "outputConfig.artifactDestination.outputUriPrefix"
        yield Violation(field, "required: gs://BUCKET/PATH")
    if config is not None and config.export_format_id not in (None, "", EXPORT_FORMAT):
        said = f"{describe(config.export_format_id)} given; allowed: {EXPORT_FORMAT}"
        yield Violation("outputConfig.exportFormatId", said)


def _check_alias(alias: str, field: str) -> Iterator[Violation]:
    if not _ALIAS.fullmatch(alias):
        rule = "2 to 128 letters, digits and dashes; the first is a lowercase letter"
        yield Violation(field, f"{describe(alias)} given; allowed: {rule}")
