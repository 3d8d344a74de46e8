"""Compiled planners, one for each learner: sums in, a plan out, as arrays.

A planner is a named tuple with a method ``plan(sums, stream, draft)`` that writes the plan into
``draft`` and returns whether its policies may have changed. It holds its constants and the arrays
it works in, so that planning allocates nothing. Simulation, service and adviser all call it.
"""
