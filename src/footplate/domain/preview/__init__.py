"""Previews of a job before it is created: plan, advice, parity, alternatives. Pure."""
