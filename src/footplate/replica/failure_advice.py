"""Explains the failure of a replica and advises what to do."""

from __future__ import annotations

from footplate.replica.oom_detection import describe_amounts

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.context import Context


def find_advice(context: Context, kind: str, code: int, cause: str) -> str:
    """Returns advice about a replica's end; '' if it succeeded, was stopped on purpose, or no
    advice is known.

    Never raises for the files that explain the end: the end itself is reported, whatever is wrong
    with them.
    """
    failed = kind == "SIGNALLED" or (kind == "EXITED" and code != 0)
    try:
        if kind == "OUT_OF_MEMORY":
            from footplate.replica.diagnosis.memory_errors import (
                REMEDIES,
            )  # only who failed pays for it

            amounts = untold(describe_amounts(context), cause)
            sentence = f"{amounts}: {REMEDIES}" if amounts else REMEDIES
            return sentence[0].upper() + sentence[1:]
        return _advise(context, cause) if failed and cause else ""
    except Exception as error:
        return f"(no advice: the search for the cause failed with {type(error).__name__})"


def untold(amounts: str, cause: str) -> str:
    """Returns the amounts that the cause doesn't mention already: it may name what the machine
    has.
    """
    return "; ".join(part for part in amounts.split("; ") if part not in cause)


def _advise(context: Context, cause: str) -> str:
    from footplate.replica.diagnosis import (
        ReplicaFacts,
        advise,
    )  # only those that failed pay for it

    places = {
        "/": context.home / "root",  # what it made there itself
        "/tmp": context.home.tmp,  # noqa: S108  as the program sees it
        "/gcs": context.ticket.buckets or "/gcs",
    }
    facts = ReplicaFacts.of_task(
        context.task,
        environments=context.environments,
        memory=untold(describe_amounts(context), cause),
        places=places,
    )
    return advise(cause, facts)
