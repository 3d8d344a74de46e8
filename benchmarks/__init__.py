"""Every figure that the documentation quotes, measured anew as a ratio within one run."""
