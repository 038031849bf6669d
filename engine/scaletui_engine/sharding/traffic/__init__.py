"""Bytes of one optimizer step, collective by collective: the papers' volume and what frameworks send."""
