"""Stands in for nvidia-ml-py in a program that is started with this folder on its path."""

from __future__ import annotations

from typing import Any

from fake_nvml.binding import NVMLError, from_environment

__all__ = ["NVMLError"]

_NVML = from_environment()


def __getattr__(name: str) -> Any:
    return getattr(_NVML, name)
