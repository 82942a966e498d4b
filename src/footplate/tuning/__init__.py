"""Which point to try next, and which trial to stop. Pure: no clock, no I/O, no own randomness."""
