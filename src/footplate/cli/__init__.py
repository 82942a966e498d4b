"""The command line: a folder for each group, a file for each command.

Commands are imported when they are used and import what they need when they run: that keeps
``footplate --help`` fast.
"""
