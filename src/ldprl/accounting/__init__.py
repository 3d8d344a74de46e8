"""What a report gives away: exact (ε, δ), composition, statements in words, audits by attack."""
