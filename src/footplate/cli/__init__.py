"""The command line: a package for each group, a module for each command.

Commands are imported when they are used and import what they need when they run: that keeps
``footplate --help`` fast.
"""
