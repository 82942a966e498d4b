"""The lines that programs print, and what programs use: append, read, follow."""
