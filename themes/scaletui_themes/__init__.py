"""Palettes and stylesheets as data, and the loader that reads them."""
