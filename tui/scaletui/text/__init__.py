"""Languages, glyphs and number formats."""
