"""Other ways to communicate than asynchronously: blocking, through one lane in order, launched late."""
