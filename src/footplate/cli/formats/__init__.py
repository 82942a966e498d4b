"""``--format``: gcloud's grammar of formats and projections, and the printers behind it."""
