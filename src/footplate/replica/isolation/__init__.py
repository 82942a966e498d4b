"""Process isolation: contains a program, so that nothing of it outlives its end.

Containment modes, each tried before it is used, the strongest first; each containment mode's module
says what it guarantees. Nothing is ever killed on a guess: a process is known by its cgroup, by its
namespace, by the kernel's own tree under the supervisor, or by a random mark in its environment,
and always by its start time beside its number, which the kernel uses again.
"""
