"""Parallel training on numpy ranks, compared with one device; number formats and loss scalers."""
