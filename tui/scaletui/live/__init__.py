"""The worker that turns a source into messages."""
