"""What regret is made of, by formula, and intervals for effects, which no learner uses."""
