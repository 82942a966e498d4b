"""The HTTP faces: the dialects that clients speak."""
