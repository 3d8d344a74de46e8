"""What regret is made of: decompositions by formula, which prove nothing."""
