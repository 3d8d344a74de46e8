"""The user's side: a trajectory becomes a private report."""
