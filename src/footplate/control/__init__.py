"""Load, decide, apply: the service's own business over the ports."""
