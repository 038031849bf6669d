"""The `config.json` of a Hugging Face model, read as an architecture; no part of transformers is needed."""

from scaletui_engine.hf_config.families import model_types
from scaletui_engine.hf_config.load import load_config_text

__all__ = ["load_config_text", "model_types"]
