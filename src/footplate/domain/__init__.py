"""Values and rules of the service: standard library only, no clock, no I/O."""
