"""Files of other programs: PyTorch's CSV, Megatron-LM's layouts and orders, traces and pictures."""
