"""What the program uses of its machine, and how long it has been silent, from time to time."""
