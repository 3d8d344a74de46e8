"""A question, a mechanism, a learner and a figure of one's own: one file each, nothing else."""
