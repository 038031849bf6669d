"""Memory: states, activations, loss and unsharded units, phase by phase, into one budget a stage."""
