"""The paper on one page, in its own symbols: algorithms 1 to 3, equations 3 and 4, numpy alone.

Garcelon, Perchet, Pike-Burke and Pirotta, *Local Differential Privacy for Regret Minimization in
Reinforcement Learning*, NeurIPS 2021. ``python -m ldprl.paper`` prints the regret of LDP-OBI with
Laplace noise; docs/paper-in-code.md reads the file from top to bottom and changes the bonus.

For simulation only: noise is in floating point and seeded, and constants are as printed. The rest
of the library draws noise exactly and from the operating system, corrects constants, and is
compiled. Its planner of LDP-OBI and its simulated loop are tested against this file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Policy = NDArray[np.int64]  # π_h(s), of shape (H, S)
Trajectory = list[tuple[int, int, float]]  # X = (s_h, a_h, r_h), h ≤ H
Agent = Callable[[Floats, int], Policy]  # from the sums of k − 1 reports, and k, to π_k


@dataclass(frozen=True)
class MDP:
    """M = (S, A, p, r, H), the same at every step, and the law ρ of the first state (section 2).

    p(s'|s,a) has the shape (S, A, S), r(s,a) (S, A) and ρ (S,). A user's reward is 1 with
    probability r(s,a), else 0.
    """

    p: Floats
    r: Floats
    rho: Floats
    H: int

    def episode(self, pi: Policy, rng: Generator) -> Trajectory:
        """Follow π on true states; only the user sees the trajectory (algorithm 1)."""
        X = []
        s = int(rng.choice(len(self.rho), p=self.rho))
        for h in range(self.H):
            a = int(pi[h, s])
            X.append((s, a, float(rng.random() < self.r[s, a])))
            s = int(rng.choice(len(self.rho), p=self.p[s, a]))
        return X

    def value(self, pi: Policy | None = None) -> float:
        """Return the mean of V₁^π(s₁), or without π of V₁*(s₁), by backward induction."""
        V = np.zeros(len(self.rho))
        for h in reversed(range(self.H)):
            Q = self.r + self.p @ V
            V = Q.max(axis=1) if pi is None else Q[np.arange(len(V)), pi[h]]
        return float(self.rho @ V)


@dataclass(frozen=True)
class Randomizer(ABC):
    """M, from a trajectory to a private report (R̃_X, Ñ^r_X, Ñ^p_X) in one vector (section 4.1)."""

    S: int
    A: int
    H: int
    epsilon: float

    def no_sums(self) -> Floats:
        """Return the sums of no reports."""
        return np.zeros(self.S * self.A * (2 + self.S))

    def blocks(self, vector: Floats) -> tuple[Floats, Floats, Floats]:
        """Return R and N^r of shape (S, A) and N^p of shape (S, A, S), as views of a vector."""
        S, A = self.S, self.A
        R, Nr, Np = np.split(vector, [S * A, 2 * S * A])
        return R.reshape(S, A), Nr.reshape(S, A), Np.reshape(S, A, S)

    def counters(self, X: Trajectory) -> Floats:
        """Return R_X, N^r_X and N^p_X (section 4.1); the last step has no next state."""
        vector = self.no_sums()
        R, Nr, Np = self.blocks(vector)
        for h, (s, a, r) in enumerate(X):
            R[s, a] += r
            Nr[s, a] += 1
            if h + 1 < len(X):
                Np[s, a, X[h + 1][0]] += 1
        return vector

    @abstractmethod
    def privatize(self, X: Trajectory, rng: Generator) -> Floats:
        """Return M(X)."""

    @abstractmethod
    def errors(self, k: int, delta: float) -> tuple[float, float, float, float]:
        """Return c_{k,1}, …, c_{k,4}: how far the sums of k − 1 reports are off (assumption 3)."""


@dataclass(frozen=True)
class Laplace(Randomizer):
    """Algorithm 3: Lap(6H/ε) on every counter is ε-LDP for the whole trajectory (theorem 7)."""

    def privatize(self, X: Trajectory, rng: Generator) -> Floats:
        """Add the noise."""
        truth = self.counters(X)
        return truth + rng.laplace(scale=6 * self.H / self.epsilon, size=truth.size)

    def errors(self, k: int, delta: float) -> tuple[float, float, float, float]:
        """Proposition 8."""
        t, t3 = (np.log(6 * cells / delta) for cells in (self.S * self.A, self.S**2 * self.A))
        c1 = max(np.sqrt(k), t) * np.sqrt(8 * t) * 6 * self.H / self.epsilon
        c3 = max(np.sqrt(k * self.S), t3) * np.sqrt(8 * t3) * 6 * self.H / self.epsilon
        return c1, c1, c3, c3 / np.sqrt(self.S)


@dataclass(frozen=True)
class LDPOBI:
    """Algorithm 2: optimistic backward induction on private sums, with any randomizer."""

    randomizer: Randomizer
    delta: float = 0.1
    alpha: float = 2.0

    def estimates(self, sums: Floats, k: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return r̃_k and p̃_k (equation 3) with β^r_k and β^p_k (proposition 4)."""
        S, A, H, alpha = self.randomizer.S, self.randomizer.A, self.randomizer.H, self.alpha
        R, Nr, Np = self.randomizer.blocks(sums)
        c1, c2, c3, c4 = self.randomizer.errors(k, 3 * self.delta / (2 * k**2 * np.pi**2))
        L = np.log(4 * np.pi**2 * S * A * H * float(k) ** 3 / (3 * self.delta))
        n, m = Nr + alpha * c2, Np.sum(axis=2) + alpha * c3
        r, p = _over(R, n, 0.0), _over(Np, m[:, :, None], 0.0)
        beta_r = np.sqrt(_over(2 * L, n)) + _over((alpha + 1) * c2 + c1, n)
        beta_p = np.sqrt(_over(14 * S * L, m)) + _over(S * c4 + (alpha + 1) * c3, m)
        return r, p, beta_r, beta_p

    def bonus(self, h: int, beta_r: Floats, beta_p: Floats) -> Floats:
        """Return b_{h,k} = (H − h + 1)·β^p_k + β^r_k, with h from 1 as in the paper."""
        return (self.randomizer.H - h + 1) * beta_p + beta_r

    def plan(self, sums: Floats, k: int) -> tuple[Policy, Floats]:
        """Return π_k and the optimistic values V_{h,k}(s), of shape (H + 1, S) (equation 4)."""
        r, p, beta_r, beta_p = self.estimates(sums, k)
        H, S = self.randomizer.H, self.randomizer.S
        pi, V = np.zeros((H, S), dtype=np.int64), np.zeros((H + 1, S))
        for h in range(H, 0, -1):
            Q = r + self.bonus(h, beta_r, beta_p) + p @ V[h]
            pi[h - 1], V[h - 1] = Q.argmax(axis=1), np.minimum(H - h + 1, Q.max(axis=1))
        return pi, V

    def __call__(self, sums: Floats, k: int) -> Policy:
        """Return π_k, as an agent of algorithm 1."""
        return self.plan(sums, k)[0]


def _over(value: Floats | float, count: Floats, unknown: float = np.inf) -> Floats:
    """Return value/count, and ``unknown`` where noise has made the count 0 or less."""
    result: Floats = np.full(np.broadcast_shapes(np.shape(value), count.shape), unknown)
    np.divide(value, count, out=result, where=count > 0)
    return result


def locally_private_rl(
    mdp: MDP, randomizer: Randomizer, agent: Agent, K: int, rng: Generator, growth: float = 0.0
) -> Iterator[tuple[Policy, Floats, float]]:
    """Algorithm 1: yield π_k, the report of user k and the regret Δ(k), for k = 1, …, K.

    The agent is given sums of reports, and nothing else of any user. It plans for each user; with
    ``growth``, whenever there are more users by that share.
    """
    sums, regret, due = randomizer.no_sums(), 0.0, 1
    for k in range(1, K + 1):
        if k == due:
            pi, due = agent(sums, k), k + max(1, int(growth * k))
            lost = mdp.value() - mdp.value(pi)
        report = randomizer.privatize(mdp.episode(pi, rng), rng)
        sums, regret = sums + report, regret + lost
        yield pi, report, regret


def random_mdp(S: int, A: int, H: int, seed: int) -> MDP:
    """Draw the RandomMDP of section 6."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(S, 0.1), size=(S, A))
    return MDP(p, (rng.random((S, A)) <= 0.5).astype(float), np.full(S, 1 / S), H)


def main() -> None:
    """Print the regret per user so far, at two levels of privacy and without any (ε = ∞)."""
    mdp, users, columns = random_mdp(2, 2, 2, seed=1), (100, 1_000, 10_000, 30_000), []
    for epsilon in (2.0, 20.0, np.inf):
        randomizer, rng = Laplace(2, 2, mdp.H, epsilon), np.random.default_rng(0)
        run = locally_private_rl(mdp, randomizer, LDPOBI(randomizer), users[-1], rng, growth=0.01)
        columns.append([regret / k for k, (_, _, regret) in enumerate(run, 1)])
    print("regret per user     ε = 2    ε = 20     ε = ∞")
    for k in users:
        print(f"{k:>9,} users" + "".join(f"{column[k - 1]:10.3f}" for column in columns))


if __name__ == "__main__":
    main()
