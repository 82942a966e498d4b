"""What can be said of a job before it is made: plan, advice, parity, variations. Pure."""
