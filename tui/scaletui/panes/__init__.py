"""One thin widget per pane."""
