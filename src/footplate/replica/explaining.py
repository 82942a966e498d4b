"""What may be done about the end of this replica's program, and what is known for that."""

from __future__ import annotations

from footplate.replica.memory import describe_amounts

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.desk import Desk


def find_advice(desk: Desk, kind: str, code: int, cause: str) -> str:
    """Empty: it ended well, or by somebody's will, or nothing is known about ends like this.

    Whatever is wrong with what is looked at, the end itself is told.
    """
    failed = kind == "SIGNALLED" or (kind == "EXITED" and code != 0)
    try:
        if kind == "OUT_OF_MEMORY":
            from footplate.replica.diagnosis.memory import WAYS_OUT  # only who failed pays for it

            amounts = untold(describe_amounts(desk), cause)
            told = f"{amounts}: {WAYS_OUT}" if amounts else WAYS_OUT
            return told[0].upper() + told[1:]
        return _advise(desk, cause) if failed and cause else ""
    except Exception as error:
        return f"(why could not be looked into: {type(error).__name__})"


def untold(amounts: str, cause: str) -> str:
    """What the cause doesn't say already: it may name what the machine has."""
    return "; ".join(part for part in amounts.split("; ") if part not in cause)


def _advise(desk: Desk, cause: str) -> str:
    from footplate.replica.diagnosis import Facts, advise  # only those that failed pay for it

    places = {
        "/tmp": desk.home.tmp,  # noqa: S108  as the program sees it
        "/gcs": str(desk.ticket.get("buckets") or "/gcs"),
    }
    facts = Facts.of_task(
        desk.task,
        environments=desk.environments,
        memory=untold(describe_amounts(desk), cause),
        places=places,
    )
    return advise(cause, facts)
