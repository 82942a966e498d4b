"""The tuner: suggests points and stops trials early. Pure: no clock, no I/O, seeded randomness."""
