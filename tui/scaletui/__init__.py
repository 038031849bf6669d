"""scaletui: a terminal cockpit for distributed training of large models."""

__version__ = "0.1.0"
