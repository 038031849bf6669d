"""Scenario editing, playback and live view-models: values and pure functions, no Textual."""
