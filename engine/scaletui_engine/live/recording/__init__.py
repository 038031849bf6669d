"""Recordings: what a viewer saw, in a file that outlives it, and read back look by look."""
