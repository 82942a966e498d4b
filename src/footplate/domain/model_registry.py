"""Models with their versions and aliases, and how they change. Pure.

A model has at least one version. Exactly one version has the alias ``default``; an alias belongs
to one version at most. Numbers of deleted versions are not used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from footplate.domain.errors import Code, FailedPrecondition, InvalidArgument, NotFound, Violation
from footplate.domain.filters import Comparison, Field
from footplate.domain.names import ModelName

DEFAULT = "default"
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ModelVersion:
    """A version of a model; ``request`` has other fields of the accepted model, as JSON."""

    number: int
    request: str
    display_name: str
    create_time: datetime
    update_time: datetime
    description: str = ""
    version_description: str = ""
    artifact_uri: str = ""
    aliases: tuple[str, ...] = ()
    labels: Labels = ()
    pipeline: str = ""
    """The name of the training pipeline that made it; empty: a client uploaded it."""


@dataclass(frozen=True)
class Upload:
    """A new version: of the model ``parent``, or of a new model with the id ``model_id``.

    If both are empty, the service makes an id for the new model.
    """

    version: ModelVersion
    model_id: str = ""
    parent: str = ""


@dataclass(frozen=True)
class Export:
    """A copy of a version's files to ``destination``; ``number`` counts from 1 within the model.

    The export has ended once ``end_time`` is set, and succeeded if ``code`` is OK.
    """

    number: int
    api_version: str
    source: str
    destination: str
    create_time: datetime
    end_time: datetime | None = None
    code: Code = Code.OK
    message: str = ""


@dataclass(frozen=True)
class Model:
    """A model with its versions and exports.

    ``version`` counts the writes of the record; ``next_number`` is the number of the next version.
    """

    name: ModelName
    create_time: datetime
    update_time: datetime
    versions: tuple[ModelVersion, ...]
    next_number: int
    exports: tuple[Export, ...] = ()
    version: int = 1

    @property
    def default(self) -> ModelVersion:
        return next(each for each in self.versions if DEFAULT in each.aliases)

    @property
    def uid(self) -> str:
        """Returns the key after which a list of models continues."""
        return str(self.name)

    def value(self, asked: Comparison) -> str | datetime | None:
        """Returns what filters compare; None: it has none, as of states and regions."""
        if asked.field is Field.LABEL:
            return dict(self.default.labels).get(asked.label or "")
        found: dict[Field, str | datetime] = {
            Field.JOB_ID: self.name.model_id,
            Field.DISPLAY_NAME: self.default.display_name,
            Field.CREATE_TIME: self.create_time,
        }
        return found.get(asked.field)


@dataclass(frozen=True)
class Change:
    """The fields that a patch sets; None leaves a field as it is."""

    display_name: str | None = None
    description: str | None = None
    version_description: str | None = None
    labels: Labels | None = None


def new_model(name: ModelName, first: ModelVersion) -> Model:
    model = Model(name, first.create_time, first.create_time, (), first.number + 1)
    return _with(model, replace(first, aliases=_joined(first.aliases, (DEFAULT,))))


def find_version(model: Model, key: str) -> ModelVersion:
    """Finds a version by its number or one of its aliases; an empty key means the default version.

    Raises NotFound.
    """
    wanted = key or DEFAULT
    for each in model.versions:
        if wanted == str(each.number) or wanted in each.aliases:
            return each
    raise NotFound(f"{model.name}@{wanted[:200]} does not exist: the model has no such version")


def add_version(model: Model, version: ModelVersion) -> Model:
    """Adds a version, with the model's next number."""
    version = replace(version, number=model.next_number)
    return _with(replace(model, next_number=model.next_number + 1), version)


def merge_aliases(model: Model, key: str, changes: Sequence[str], at: datetime) -> Model:
    """Adds aliases to a version, and removes those with a leading ``-``.

    Raises:
        NotFound: there is no such version.
        InvalidArgument: ``default`` can't be removed, only given to another version.
    """
    version = find_version(model, key)
    removed = {change[1:] for change in changes if change.startswith("-")}
    if DEFAULT in removed:
        said = "the alias default can't be removed; give it to another version instead"
        raise InvalidArgument.of((Violation("versionAliases", said),))
    added = tuple(change for change in changes if not change.startswith("-"))
    kept = tuple(alias for alias in version.aliases if alias not in removed)
    return _with(model, replace(version, aliases=_joined(kept, added), update_time=at))


def patch_version(model: Model, key: str, change: Change, at: datetime) -> Model:
    """Applies a patch to a version. Raises NotFound: the model has no such version."""
    version = find_version(model, key)
    given = {name: value for name, value in vars(change).items() if value is not None}
    return _with(model, replace(version, **given, update_time=at))


def delete_version(model: Model, key: str, at: datetime) -> Model:
    """Deletes a version.

    Raises NotFound: the model has no such version; FailedPrecondition: it is the only version, or
    the default one.
    """
    version = find_version(model, key)
    if len(model.versions) == 1:
        raise FailedPrecondition(f"{model.name} has no other version: delete the model instead")
    if DEFAULT in version.aliases:
        raise FailedPrecondition(
            f"version {version.number} of {model.name} is the default version: give the alias "
            "default to another version first"
        )
    left = tuple(each for each in model.versions if each is not version)
    return replace(model, versions=left, update_time=at, version=model.version + 1)


def begin_export(model: Model, export: Export) -> Model:
    """Adds an export, with the next number."""
    number = 1 + max((each.number for each in model.exports), default=0)
    exports = (*model.exports, replace(export, number=number))
    return replace(model, exports=exports, version=model.version + 1)


def end_export(model: Model, export: Export) -> Model:
    exports = tuple(export if each.number == export.number else each for each in model.exports)
    return replace(model, exports=exports, version=model.version + 1)


def _with(model: Model, version: ModelVersion) -> Model:
    """Adds ``version``, or replaces that number; other versions lose its aliases."""
    others = [
        replace(each, aliases=tuple(a for a in each.aliases if a not in version.aliases))
        for each in model.versions
        if each.number != version.number
    ]
    versions = tuple(sorted((*others, version), key=lambda each: each.number))
    changed = bool(model.versions)
    return replace(
        model,
        versions=versions,
        update_time=version.update_time,
        version=model.version + changed,
    )


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
