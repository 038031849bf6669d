"""Pure functions from view-models to rows."""
