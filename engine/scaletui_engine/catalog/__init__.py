"""Models and GPUs as data files, each entry with its source."""
