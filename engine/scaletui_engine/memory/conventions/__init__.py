"""Other people's accountings under their own names, beside ours."""
