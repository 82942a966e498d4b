"""``footplate catalogue``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "catalogue"

command = Group(
    "catalogue",
    (
        Entry("machine-types", f"{_HERE}.machine_types", "List machine types."),
        Entry("accelerators", f"{_HERE}.accelerators", "List accelerators."),
        Entry("regions", f"{_HERE}.regions", "List regions, and what their zones have."),
        Entry("scale-tiers", f"{_HERE}.scale_tiers", "List the clusters that tiers stand for."),
        Entry("check", f"{_HERE}.check", "Check a catalogue file of your own."),
    ),
    help="""What jobs can ask for: machine types, accelerators, regions, scale tiers.

    \b
    footplate catalogue machine-types --accelerator=nvidia-tesla-t4
    footplate catalogue regions --accelerator=nvidia-tesla-t4
    footplate catalogue check own.toml

    A running server is asked; without one, the catalogue of the settings is shown.
    """,
)
