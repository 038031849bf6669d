"""Questions that a person asks of a result: pure functions from an index, a rank or a time to an answer."""
