"""Times and bytes of a scenario's own stages: estimates, and marked so."""
