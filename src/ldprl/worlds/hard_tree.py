"""The instance behind the regret lower bound (appendix "Regret Lower Bound")."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from ldprl.errors import InputError, positive, whole_number
from ldprl.shape import Shape
from ldprl.worlds.checks import sized
from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class HardTree:
    """A tree in which one action of one leaf is better by Δ, as :func:`hard_tree` builds it.

    Parameters
    ----------
    mdp
        States are the tree's nodes level by level (0 is the root, the leaves come last), then
        ``plus`` = S−2 and ``minus`` = S−1.
    levels
        How many nodes each level has.
    gap
        The paper's Δ.
    leaf, action
        The better pair (x_{i*}, a*): ``leaf`` counts the leaves from 0.
    unmet
        Conditions of the theorem that these parameters miss; the lower bound is proved for this
        instance where there are none.
    """

    mdp: TabularMDP
    levels: tuple[int, ...]
    gap: float
    leaf: int
    action: int
    unmet: tuple[str, ...]

    @property
    def depth(self) -> int:
        """The paper's d: how many steps it takes to reach + or −."""
        return len(self.levels)

    @property
    def leaves(self) -> int:
        """The paper's L."""
        return self.levels[-1]

    @property
    def plus(self) -> int:
        """The state +, which pays 1 at each step."""
        return self.mdp.shape.states - 2

    @property
    def minus(self) -> int:
        """The state −, which pays nothing."""
        return self.mdp.shape.states - 1

    @property
    def best_leaf(self) -> int:
        """The state x_{i*}."""
        return self.plus - self.leaves + self.leaf


def hard_tree(
    states: int,
    actions: int,
    horizon: int,
    episodes: int,
    epsilon: float,
    *,
    leaf: int = 0,
    action: int = 0,
) -> HardTree:
    """Build the MDP on which ε-LDP learners have regret of order (H−d)√(KLA)/min{e^ε−1, 1/2}.

    Hard because LA leaf-action pairs are alike except one, whose chance of ending in + is
    1/2 + Δ, and because the information of an episode about a pair shrinks with (e^ε − 1)².
    Δ is chosen so that K episodes are just too few to find that pair:

        Δ = √(LA/K) / (16√2 · min{e^ε−1, 1/2}).

    *Time.* The root is at depth 0, leaves at depth d−1, + and − at depth d. The paper's s_h of the
    proof is the state after h moves. So steps 1, …, d of an episode are spent in the tree, steps
    d+1, …, H in + or −, which makes H−d rewards, and with s_1 the root (as in section 2)

        V^π = (H−d) · (1/2 + Δ·P(s_d = x_{i*}, a_d = a*)),

    whence a policy that misses the pair has regret (H−d)Δ.

    *Tree.* The paper takes a perfect A-ary tree without loss of generality; for other S the S−2
    nodes are arranged in d levels, each node of a level having 1 to A children in the next and all
    leaves being in the last: d as small as possible and then L as large as possible. Actions of a
    node with fewer than A children repeat: child number ⌊a·children/A⌋. With leaves at two depths,
    as a heap would have them, the shallow ones would be worth one step more and the instance easy.
    The paper's L ≥ (S−2)/2 then holds for A ≥ 3, and for A = 2 up to (d−1)/2 leaves: 5 nodes have
    room for L = 2 only.

    Parameters
    ----------
    states, actions, horizon
        S ≥ 3, A ≥ 2 and H > d.
    episodes, epsilon
        K and ε, by which Δ is chosen; refused where Δ would exceed 1/2.
    leaf, action
        Where the better pair is; the theorem takes the worst case over all of them.
    """
    states = whole_number("states", states, 3)
    actions = whole_number("actions", actions, 2)
    horizon = sized(Shape(states, actions, horizon)).horizon
    episodes = whole_number("episodes", episodes, 1)
    epsilon = positive("epsilon", epsilon)
    levels = tree_levels(states - 2, actions)
    depth, leaves = len(levels), levels[-1]
    leaf = whole_number("leaf", leaf, 0, leaves - 1)
    action = whole_number("action", action, 0, actions - 1)
    if horizon <= depth:
        expected = f"more than {depth} steps, as it takes {depth} to pass the tree"
        raise InputError("horizon", horizon, expected)
    # Beyond ε = 1 the minimum is 1/2; capping keeps the exponential finite.
    scale = min(math.expm1(min(epsilon, 1.0)), 0.5)
    gap = math.sqrt(leaves * actions / episodes) / (16 * math.sqrt(2) * scale)
    if gap > 0.5:
        expected = f"at least {leaves * actions / 128 / scale / scale:.4g}, so that Δ ≤ 1/2"
        raise InputError("episodes", episodes, expected)
    conditions = {
        "K ≥ LA / min{8(e^ε−1), 4}²": episodes >= leaves * actions / 64 / scale / scale,
        "H ≥ 2 log_A(S−2) + 2": long_enough(states, actions, horizon),
    }
    return HardTree(
        mdp=_tree_mdp(levels, actions, horizon, gap=gap, leaf=leaf, action=action),
        levels=levels,
        gap=gap,
        leaf=leaf,
        action=action,
        unmet=tuple(text for text, met in conditions.items() if not met),
    )


def tree_levels(nodes: int, actions: int) -> tuple[int, ...]:
    """Arrange ``nodes`` in the fewest levels, with as many as possible in the last.

    Level sizes n_0 = 1, …, n_{d−1} = L must satisfy n_i ≤ n_{i+1} ≤ A·n_i. For a given L their sum
    takes every value from Σ_j ⌈L/A^j⌉ to Σ_i min(A^i, L), and these ranges leave no gap from one L
    to the next: so the largest L whose narrowest tree fits will do, if its widest one is not too
    small.
    """
    depth = 1
    while sum(actions**level for level in range(depth)) < nodes:
        depth += 1
    for leaves in range(min(nodes, actions ** (depth - 1)), 0, -1):
        levels = [-(-leaves // actions**above) for above in reversed(range(depth))]
        widest = sum(min(actions**level, leaves) for level in range(depth))
        if sum(levels) <= nodes <= widest:
            break
    while sum(levels) < nodes:
        free = next(
            level
            for level in range(1, depth - 1)
            if levels[level] < min(actions * levels[level - 1], levels[level + 1])
        )
        levels[free] += 1
    return tuple(levels)


def _tree_mdp(
    levels: tuple[int, ...], actions: int, horizon: int, *, gap: float, leaf: int, action: int
) -> TabularMDP:
    nodes = sum(levels)
    plus, minus = nodes, nodes + 1
    transitions = np.zeros((nodes + 2, actions, nodes + 2))
    first = 0
    for width, below in itertools.pairwise(levels):
        for parent in range(width):
            # Children are dealt out evenly: 1 to A each, as width ≤ below ≤ A·width.
            start, end = below * parent // width, below * (parent + 1) // width
            for choice in range(actions):
                child = start + choice * (end - start) // actions
                transitions[first + parent, choice, first + width + child] = 1
        first += width
    transitions[first:nodes, :, [plus, minus]] = 0.5
    transitions[first + leaf, action, [plus, minus]] = 0.5 + gap, 0.5 - gap
    transitions[plus, :, plus] = 1
    transitions[minus, :, minus] = 1
    rewards = np.zeros((nodes + 2, actions))
    rewards[plus] = 1
    root = np.zeros(nodes + 2)
    root[0] = 1
    return TabularMDP(transitions, rewards, horizon, root)


def long_enough(states: int, actions: int, horizon: int) -> bool:
    """Return whether H ≥ 2 log_A(S−2) + 2, in whole numbers: A^(H−2) ≥ (S−2)²."""
    enough = 2 * states.bit_length()  # as 2^enough > S², larger powers need not be computed
    return horizon >= 2 and actions ** min(horizon - 2, enough) >= (states - 2) ** 2
