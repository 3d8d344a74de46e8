"""The regret upper bound of LDP-OBI, with the constants of its proof."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

from ldprl.errors import above, one_of, probability, whole_number
from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.mechanisms.mechanism import Constants
from ldprl.shape import Shape


@dataclass(frozen=True)
class UpperBound:
    """The terms of the regret bound; their sum is :attr:`total`.

    Attributes
    ----------
    transition_sampling, reward_sampling
        What is lost because p and r are learnt from finitely many visits.
    transition_noise, reward_noise
        What is lost because the counters are noisy: the terms with c_{K,3}, c_{K,4} and with
        c_{K,1}, c_{K,2}.
    martingale
        Deviation of the visited states from their expectation.
    first_visits
        What the first visit to each cell may cost (``sound`` only).
    """

    transition_sampling: float
    reward_sampling: float
    transition_noise: float
    reward_noise: float
    martingale: float
    first_visits: float

    @property
    def total(self) -> float:
        """The bound on the regret of K episodes; above HK it says nothing."""
        return math.fsum(astuple(self))


def regret_upper_bound(
    shape: Shape,
    episodes: int,
    laws: ErrorLaws,
    failure: float,
    alpha: float = 2.0,
    *,
    constants: Constants = "sound",
) -> UpperBound:
    r"""Bound the regret of LDP-OBI after K episodes, with probability 1 − δ (main theorem).

    With T = KH, c_i = c_{K,i}(3δ/(2π²K²)), ℓ = ln(14SAT/δ) and λ = ln(2TSA) + H, the last
    display of the proof ("Regret Upper Bound") reads, as printed::

        R ≤ H√(46Sℓ)·(√(2SAT) + HSA)  +  √(6ℓ)·(√(2SAT) + HSA)
            + 2SAH·((α+1)c₃ + S·c₄)·λ  +  2SA·((α+1)c₂ + c₁)·λ  +  2H√(T ln(2/δ)),

    and corrected, which is ``sound``::

        R ≤ 2·{ H√(46Sℓ)·((1+√2)√(SAT) + HSA)  +  √(6ℓ)·((1+√2)√(SAT) + HSA)
                + 2SAH·((α+1)c₃ + S·c₄)·λ  +  2SA·((α+1)c₂ + c₁)·λ }
            + 2H√(T ln(2/δ))  +  SA(H+1).

    Parameters
    ----------
    shape
        S, A, H and whether the model depends on the step.
    episodes
        The paper's K.
    laws
        c_{k,1}, …, c_{k,4} of the mechanism.
    failure
        The paper's δ.
    alpha
        The paper's α > 1, by which LDP-OBI shifts its denominators.
    constants
        ``"sound"``, or ``"paper"`` for the display as printed.

    Notes
    -----
    *Factor 2.* On the good event the optimistic value exceeds that of the policy by at most
    r̃ − r + β^r + (p̃ − p)V + Hβ^p ≤ 2(β^r + Hβ^p) at each step, plus a martingale difference:
    the proof's R ≤ 2ΣΣ(β^r + Hβ^p) + 2H√(T ln(2/δ)). Then ΣΣβ^r and ΣΣHβ^p are bounded one by
    one, and "putting everything together" adds these two without the 2 before them.

    *Root.* Σ ν_k/√N_k ≤ (1+√2)√N where ν_k ≤ N_k (Jaksch et al., lemma 19), so the sum over
    cells is (1+√2)√(SAT) by Cauchy–Schwarz. Printed is √(2SAT), less than the 2√(SAT) that
    even single visits to equally visited cells reach.

    *First visits.* The proof drops (α−1)c_k from denominators N_k + (α−1)c_k, which divides by
    zero where N_k = 0. Instead stop the recursion at the first cell of an episode that is new:
    the rest of the episode costs at most H (1 at the last step), which happens at most SA times
    before the last step and SA times at it. Up to a stopping time the martingale is one still.

    *What holds as printed.* For cells with N_k ≥ 1, visits while N_k < H come to Σν_k/N_k ≤ H and
    Σν_k/√N_k ≤ H + (1+√2)√N together with the rest, later ones to Σν_k/N_k ≤ ln(N)/ln 2: whence
    λ and HSA. 2 ln(4π²SAHK³/(3δ)) ≤ 6ℓ and 14S·3 ≤ 46S; the martingale term has room for the
    draw of the start states.

    *Last step.* N^p counts H − 1 steps of an episode while the proof's Σ_h β^p(s_h, a_h) has H.
    The proof holds for bonuses with (H−h)β^p, 0 at the last step. With the printed (H−h+1)β^p a
    cell that is visited at last steps only keeps a β^p that never shrinks.

    *Step-dependent models.* There are HSA cells instead of SA, and an episode visits each at most
    once, so SA becomes HSA, λ = ln(2T·HSA) + 1 and HSA stays; ℓ does not change: it unites
    HSA·k cases either way. The bound grows by a factor H at most. The paper's footnote says
    "multiplied by a factor H√H", which is what ``paper`` does.
    """
    episodes = whole_number("episodes", episodes, 1)
    failure = probability("failure", failure, zero=False)
    alpha = above("alpha", alpha, 1)
    sound = one_of("constants", constants, ("sound", "paper")) == "sound"
    states, actions, horizon = shape.states, shape.actions, shape.horizon
    steps = episodes * horizon
    per_model = states * actions
    cells = shape.cells if sound else per_model
    repeats = shape.most_visits if sound else horizon  # how often an episode can visit one cell

    root = 1 + math.sqrt(2) if sound else math.sqrt(2)
    visits_root = root * math.sqrt(cells * steps) + repeats * cells
    visits_log = 2 * cells * (math.log(2 * steps * cells) + repeats)
    log = math.log(14 * per_model * steps / failure)
    share = 3 * failure / (2 * math.pi**2 * episodes**2)
    c1, c2, c3, c4 = (
        float(law(episodes, share))
        for law in (laws.rewards, laws.visits, laws.departures, laws.transitions)
    )
    footnote = horizon**1.5 if shape.step_dependent and not sound else 1.0
    factor = 2.0 if sound else footnote
    new_cells = shape.transition_models * per_model * horizon + per_model
    return UpperBound(
        transition_sampling=factor * horizon * math.sqrt(46 * states * log) * visits_root,
        reward_sampling=factor * math.sqrt(6 * log) * visits_root,
        transition_noise=factor * horizon * ((alpha + 1) * c3 + states * c4) * visits_log,
        reward_noise=factor * ((alpha + 1) * c2 + c1) * visits_log,
        martingale=footnote * 2 * horizon * math.sqrt(steps * math.log(2 / failure)),
        first_visits=float(new_cells) if sound else 0.0,
    )
