"""A question, a mechanism and a learner of one's own: one file each, and nothing else changes."""
