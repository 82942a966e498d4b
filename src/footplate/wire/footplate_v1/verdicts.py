"""Answers about validation: the verdict on a job, and its plan.

Fields have the names of the domain's values, from which they are read.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    AliasPath,
    BeforeValidator,
    Field,
    model_validator,
)

from footplate.domain.preview import verdict as domain
from footplate.domain.sites import Mode
from footplate.wire.footplate_v1.answer import Answer

GivenText = Annotated[str | None, BeforeValidator(lambda value: value or None)]
"""An empty one is left out."""
GivenNumber = Annotated[int | None, BeforeValidator(lambda value: value or None)]


def _words(words: Mapping[bool | None, str]) -> BeforeValidator:
    return BeforeValidator(lambda value: value if isinstance(value, str) else words.get(value))


class Violation(Answer):
    field: str
    description: str


class Parity(Answer):
    """The prediction whether Google's service accepts the job."""

    accepted: Annotated[
        Literal["YES", "NO", "UNKNOWN"], _words({True: "YES", False: "NO", None: "UNKNOWN"})
    ]
    reasons: tuple[str, ...] = ()


class Machine(Answer):
    """The machine of each replica of a pool; what isn't known of it is None."""

    machine_type: str
    vcpus: int | None = None
    memory_gb: float | None = None
    accelerator: str | None = Field(None, alias="acceleratorType")
    accelerator_count: GivenNumber = None
    boot_disk_type: str = Field(
        validation_alias=AliasChoices("bootDiskType", AliasPath("disk", "boot_disk_type"))
    )
    boot_disk_size_gb: int = Field(
        validation_alias=AliasChoices("bootDiskSizeGb", AliasPath("disk", "boot_disk_size_gb"))
    )


class Program(Answer):
    """The program of a pool: ``runtime`` with its Python and the module, or ``image``."""

    runtime: str | None = None
    python: str | None = Field(None, alias="pythonVersion")
    module: str | None = Field(None, alias="pythonModule")
    packages: Annotated[tuple[str, ...] | None, BeforeValidator(lambda value: value or None)] = (
        Field(None, alias="packageUris")
    )
    image: str | None = Field(None, alias="imageUri")
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    """None: the image's own."""


class Variable(Answer):
    name: str
    value: str

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, value: Any) -> Any:
        return {"name": value[0], "value": value[1]} if isinstance(value, tuple) else value


class Pool(Answer):
    """A pool; ``variables`` are those that the service sets on its first replica."""

    role: str
    replicas: tuple[str, ...]
    machine: Machine
    program: Program
    variables: tuple[Variable, ...] = Field((), alias="env")


class Plan(Answer):
    """A plan; ``pools`` begin with the primary one, ``steps`` are sentences, in order of time."""

    region: str
    zone: str | None = None
    mode: Mode | None = None
    limits: GivenText = None
    pools: tuple[Pool, ...]
    steps: tuple[str, ...] = ()
    counts: dict[str, int]
    """Against the project's quota in the region."""
    holds: dict[str, int]
    """Of what the region is bound to, while it runs."""


class Queue(Answer):
    """The prospect of a start: now, or else the ``place`` in the queue, and why."""

    starts_now: bool
    place: GivenNumber = None
    text: GivenText = Field(None, alias="explanation")


class Verdict(Answer):
    """The result of a validation; ``verdict`` is as a submit of the same request decides."""

    verdict: Annotated[
        Literal["ACCEPTED", "REJECTED"], _words({True: "ACCEPTED", False: "REJECTED"})
    ] = Field(validation_alias=AliasChoices("verdict", "accepted"))
    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()
    parity: Parity
    refusal: str | None = None
    """Why a submit refuses a valid job: its name, its size, a quota, what can't run here."""
    plan: Plan | None = None
    queue: Queue | None = None

    @property
    def accepted(self) -> bool:
        return self.verdict == "ACCEPTED"

    @classmethod
    def of(cls, verdict: domain.Verdict) -> Self:
        return cls.model_validate(verdict, from_attributes=True)
