"""Collectives: their bytes and times, and their algorithms step by step."""
