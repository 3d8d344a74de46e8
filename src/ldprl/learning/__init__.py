"""The learner's side: sums become a policy."""
