"""What a service account means here."""

from __future__ import annotations


def describe_account(field: str) -> str:
    return (
        f"{field} only asks for access to this service's API, which the server's setting "
        "api_access grants by project"
    )
