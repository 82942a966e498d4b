"""``--format``: what people use of gcloud's formats and projections, and the printers behind it."""
