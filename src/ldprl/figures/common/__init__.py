"""What the figures share."""
