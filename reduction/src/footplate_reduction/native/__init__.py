"""The C++ library, which sends, receives and adds, and the two sides that call it."""
