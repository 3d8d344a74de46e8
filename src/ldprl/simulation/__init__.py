"""The loop, simulated."""
