"""Has it learnt? In a simulation, whose world is known, and in a service, from sums alone."""
