"""Rule networks that experiments run: files that a reader can change."""
