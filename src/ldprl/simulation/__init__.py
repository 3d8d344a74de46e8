"""The loop in silico."""
