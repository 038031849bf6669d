"""What the driver says of GPUs: read through NVML, matched to ranks by UUID, laid out in layers."""
