"""Studies, their trials, fitted models and reports: as rows, and as the documents in them."""
