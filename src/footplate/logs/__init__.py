"""The lines that programs print: append, read, follow."""
