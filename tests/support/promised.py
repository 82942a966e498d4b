"""What a service has found of its machine's isolation: for tests that don't try it."""

from __future__ import annotations

from footplate.protocol.promised import IMAGE_USERS, PROCESS_NAMESPACE, USER, VIEW, Promised


def make_promised(mode: str = "best-effort", *, user: str = "", **more: str) -> Promised:
    """As the supervisors' ``probe`` prints it; each fault is why that can't be had."""
    limits = {"memory": f"mode {mode} can't", "CPU": f"mode {mode} can't"}
    faults = {
        **limits,
        "processes": "",
        PROCESS_NAMESPACE: "",
        VIEW: "",
        IMAGE_USERS: "",
        USER: user,
        **more,
    }
    return Promised(mode, (), faults, disks={})
