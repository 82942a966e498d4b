"""A network namespace for each replica of a gang: own address, own ports.

Only Linux, only root. A namespace is tied to a bridge of the machine by a pair of devices::

    program: eth0, 198.18.3.17 ── fp-3.17 ── footplate0, 198.18.0.1 ── the machine, the outside

Nothing stands on disk. The device's name tells the address, so that the kernel itself gives an
address only once on a machine, whoever asks. A namespace has no name: it lives while the
supervisor holds its descriptor or a process is in it, and takes its devices along when it goes.
"""
