"""What a user runs: a public policy, and the law from which each user's own is drawn."""
