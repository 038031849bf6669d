"""The shipped models and accelerators: data files with a source on every entry, and their loader."""

from scaletui_engine.catalog.gpus import gpu_ids, load_gpu
from scaletui_engine.catalog.models import load_model, model_ids

__all__ = ["gpu_ids", "load_gpu", "load_model", "model_ids"]
