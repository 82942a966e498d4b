"""Findings about one part of the machine, and how they are printed. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.wire.json_text import JsonObject


class Verdict(StrEnum):
    OK = "OK"
    LIMITED = "LIMITED"
    """Some jobs can't run, or run with less protection."""

    FAILED = "FAILED"
    """No job can run."""


@dataclass(frozen=True)
class Finding:
    """``way_out``: what to do where something is missing; empty where nothing is."""

    part: str
    verdict: Verdict
    text: str
    way_out: str = ""

    def line(self) -> str:
        text = f"{self.text}; {self.way_out}" if self.way_out else self.text
        return f"{self.verdict:<7}  {self.part:<12}  {text}"

    def document(self) -> JsonObject:
        shown: JsonObject = {"part": self.part, "verdict": self.verdict.value, "text": self.text}
        if self.way_out:
            shown["wayOut"] = self.way_out
        return shown


def jobs_can_run(findings: Sequence[Finding]) -> bool:
    return all(finding.verdict is not Verdict.FAILED for finding in findings)


def conclusion(findings: Sequence[Finding]) -> str:
    if not jobs_can_run(findings):
        parts = [f.part for f in findings if f.verdict is Verdict.FAILED]
        return f"No job can run here: see {', '.join(parts)}."
    limited = [f.part for f in findings if f.verdict is Verdict.LIMITED]
    return (
        f"Jobs can run here, with limits: see {', '.join(limited)}."
        if limited
        else ("Jobs can run here.")
    )
