"""``footplate quotas``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "quotas"

command = Group(
    "quotas",
    (
        Entry("list", f"{_HERE}.list", "List the limits that are set."),
        Entry("describe", f"{_HERE}.describe", "Show what a project may hold, and holds now."),
        Entry("set", f"{_HERE}.set", "Limit what a project may hold."),
        Entry("unset", f"{_HERE}.unset", "Take limits back."),
    ),
    help="""How much the jobs of one project may hold at once in one region.

    Resources are vcpus, jobs, and each type of accelerator by its name, such as
    NVIDIA_TESLA_T4 (nvidia-tesla-t4 works, too). Without a quota only the machines limit a
    project. A job that finds no room in its project's quota waits; one that asks for more than
    the whole of it is refused.

    \b
    footplate quotas set NVIDIA_TESLA_T4=4 vcpus=64 --project=ads --region=us-central1
    footplate quotas set jobs=10 --project='*'         ten jobs for every project by itself
    footplate quotas describe --project=ads
    footplate quotas unset vcpus --project=ads --region=us-central1

    What is set here is kept in the database, counts at once, and beats [[quotas]] tables of
    footplate.toml.
    """,
)
