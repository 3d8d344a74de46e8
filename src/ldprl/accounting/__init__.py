"""What a report reveals: exact (ε, δ), composition, privacy statements, audits by attack."""
