"""The simulation engine: numbers in, numbers out; no screen, no clock, no torch at import."""
