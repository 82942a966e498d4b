"""One module for each revision, never changed once released."""
