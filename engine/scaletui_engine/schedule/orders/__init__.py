"""One file a schedule: pure functions from a request to the rows of every rank."""
