"""A package, so that its fixtures of the scope ``package`` end with its last test."""
