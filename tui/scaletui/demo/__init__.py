"""A small real training job: its model, its script, its launcher, and the handle that starts and ends it."""
