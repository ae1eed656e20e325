"""Windows and time: drawn in ASCII, and against plain references on random streams."""
