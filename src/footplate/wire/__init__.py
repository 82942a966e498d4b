"""JSON on one side, domain values on the other."""
