"""Keys that the service itself sets in the scope of a request: clients can't."""

BY_CONSOLE = "footplate.by_console"
"""The console makes the call, for a reader of its pages."""
PEER = "footplate.peer"
"""Who has the other end of the connection, whatever its headers say of other clients."""
PROGRAM = "footplate.program"
"""The name of the job whose program makes the call."""
