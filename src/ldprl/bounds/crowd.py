"""The instance's lower bound and LDP-EVI's upper bound, with shuffled reports.

Page *With a crowd*. Versions of at least ``crowd`` users are shuffled; each user is in one version.
"""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.bounds.alternatives import Instance
from ldprl.bounds.evi import EVIBound, evi_upper_bound
from ldprl.bounds.instance import instance_lower_bound
from ldprl.bounds.pair import best_pair
from ldprl.errors import positive, probability, whole_number
from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class CrowdBounds:
    """What holds for learners whose shuffled versions are (ε, δ)-DP.

    Attributes
    ----------
    local_epsilon
        ε₀ of subset selection at which a crowd has the central (ε, δ).
    instance_lower_bound
        ln K times the constant at ε₀: for consistent learners with ε₀-LDP reports, shuffled or not.
    pair_lower_bound
        For every learner with ε₀-LDP reports, here or in the neighbour, at this K.
    central_pair_lower_bound
        The same for every learner whose transcript is (ε, δ)-DP given the assignments, whatever
        its reports are by themselves.
    upper
        LDP-EVI's bound at ε₀, with plans that serve a crowd or more.
    """

    local_epsilon: float
    instance_lower_bound: float
    pair_lower_bound: float
    central_pair_lower_bound: float
    upper: EVIBound


def crowd_bounds(
    mdp: TabularMDP, crowd: int, epsilon: float, delta: float, episodes: int, failure: float = 0.1
) -> CrowdBounds:
    """Evaluate both bounds for versions of ``crowd`` users with central (ε, δ)."""
    from ldprl.accounting.shuffling import largest_local_epsilon
    from ldprl.mechanisms.subset_selection import SubsetSelection

    crowd, episodes = whole_number("crowd", crowd, 1), whole_number("episodes", episodes, 1)
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=False)
    local = largest_local_epsilon(
        crowd, epsilon, delta, lambda at: SubsetSelection(mdp.shape, at).blankets()
    )
    instance = Instance(mdp)
    pair = best_pair(instance, local, episodes)
    central = 0.0 if pair is None else pair[1].central_lower_bound(epsilon, delta, episodes)
    upper = evi_upper_bound(SubsetSelection(mdp.shape, local), failure)
    if crowd > upper.largest_plan:
        mechanism = SubsetSelection(mdp.shape, local)
        upper = evi_upper_bound(mechanism, failure, largest_plan=crowd)
    return CrowdBounds(
        local,
        instance_lower_bound(instance, local).at(episodes),
        0.0 if pair is None else pair[0],
        central,
        upper,
    )
