"""For tests, ours and our users': contract suites, fakes, the simulator."""
