"""Names of the variables by which a node's job says what its site gives to programs."""

from __future__ import annotations

SITE_VARIABLES = "FOOTPLATE_SITE_VARIABLES"
"""The names of what the region's ``env`` sets, with blanks between them; only nodes have it."""
PROLOGUE_VARIABLES = "FOOTPLATE_PROLOGUE_VARIABLES"
"""The names of what the region's prologue has set or changed."""
