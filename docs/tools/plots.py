"""Pictures made of numbers: a crowd of noisy bits, noise against users, regret."""

from __future__ import annotations

import math

import numpy as np
from diagrams import GREY, INK, SERVICE, USER
from matplotlib.figure import Figure

from ldprl import LDPEVI, SubsetSelection, riverswim, simulate


def truth_chance(epsilon: float) -> float:
    """Return how often randomized response reports the truth: e^ε/(1 + e^ε)."""
    return math.exp(epsilon) / (1 + math.exp(epsilon))


def crowd() -> Figure:
    """Draw what randomized response at ε = 1 does to one bit, and to 10,000 bits."""
    truth, users, share = truth_chance(1.0), 10_000, 0.3
    rng = np.random.default_rng(0)
    bits = rng.random(users) < share
    reported = np.where(rng.random(users) < truth, bits, ~bits).mean()
    decoded = (reported - (1 - truth)) / (2 * truth - 1)
    figure = Figure(figsize=(8, 3), layout="constrained")
    one, many = figure.subplots(1, 2)
    for place, bit in enumerate((0, 1)):
        chances = [truth, 1 - truth] if bit == 0 else [1 - truth, truth]
        one.barh(
            [place + 0.18, place - 0.18], chances, height=0.3, color=[USER, GREY][:: 1 - 2 * bit]
        )
        for offset, chance in zip((0.18, -0.18), chances, strict=True):
            said = 0 if offset > 0 else 1
            one.text(chance + 0.01, place + offset, f"says {said}: {chance:.0%}", va="center")
    one.set(yticks=[0, 1], yticklabels=["bit is 0", "bit is 1"], xlim=(0, 1), xticks=[])
    one.set_title("one user: either answer fits either bit", fontsize=10)
    one.spines["bottom"].set_visible(False)
    names = ["true share", "reported share", "decoded share"]
    heights = [bits.mean(), reported, decoded]
    many.bar(names, heights, color=[USER, GREY, SERVICE], width=0.6)
    for place, height in enumerate(heights):
        many.text(place, height + 0.01, f"{height:.1%}", ha="center")
    many.set(ylim=(0, 0.55), yticks=[])
    many.set_title("10,000 users: the share comes back", fontsize=10)
    many.spines["left"].set_visible(False)
    return figure


def noise() -> Figure:
    """Draw the error of a share that is estimated by randomized response: formula, and draws."""
    rng = np.random.default_rng(0)
    users = np.geomspace(100, 1e8, 13).astype(np.int64)
    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    axes = figure.subplots()
    for epsilon, colour in ((0.25, "#9c4a1a"), (1.0, USER), (2.0, SERVICE)):
        truth = truth_chance(epsilon)
        ones = 0.3 * truth + 0.7 * (1 - truth)
        expected = np.sqrt(ones * (1 - ones) / users) / (2 * truth - 1)
        drawn = rng.binomial(users, ones, size=(400, len(users))) / users
        measured = ((drawn - ones) / (2 * truth - 1)).std(axis=0)
        axes.loglog(users, expected, color=colour, label=f"ε = {epsilon:g}")
        axes.loglog(users, measured, "o", color=colour, ms=4)
    axes.loglog(users, np.sqrt(0.3 * 0.7 / users), "--", color=INK, lw=1, label="no privacy")
    axes.axhline(1.0, color=GREY, lw=1)
    axes.text(1e8, 1.1, "above this line nothing is known", ha="right", color=INK, fontsize=9)
    axes.set(xlabel="users", ylabel="error of an estimated share")
    axes.legend(frameon=False)
    return figure


def regret() -> Figure:
    """Draw what a user loses on average, and the same added up: regret."""
    mdp = riverswim(states=3, horizon=4)
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    each, total = figure.subplots(1, 2)
    for epsilon, colour in ((1.0, USER), (3.0, SERVICE)):
        mechanism = SubsetSelection(mdp.shape, epsilon)
        result = simulate(mdp, LDPEVI(mechanism), mechanism, 10**6, runs=12, replan="growth:0.1")
        users, curve = result.checkpoints, result.curves.mean(axis=0)
        ends = np.arange(0, len(users), 5)  # averages over a quarter of a decade
        loss = np.diff(curve[ends]) / np.diff(users[ends])
        each.semilogx(users[ends][1:], loss, color=colour, label=f"ε = {epsilon:g}")
        total.plot(users, curve, color=colour)
    each.set(xlabel="users so far", ylabel="what one user loses", ylim=(0, None))
    each.set_title("the policy gets better …", fontsize=10)
    total.plot(users, curve[0] * users, "--", color=INK, lw=1)
    total.text(60_000, 19_000, "if nothing were learnt", fontsize=9, color=INK)
    total.set(xlabel="users so far", ylabel="regret: all losses added up", ylim=(0, 21_000))
    total.set_xticks([0, 500_000, 1_000_000], ["0", "500,000", "1,000,000"])
    total.set_title("… so regret flattens", fontsize=10)
    each.legend(frameon=False)
    return figure


def start() -> Figure:
    """Draw the plot of the page ``start.md``, from the same lines."""
    mdp = riverswim(states=3, horizon=4)
    mechanism = SubsetSelection(mdp.shape, epsilon=2.0)
    result = simulate(mdp, LDPEVI(mechanism), mechanism, 10**6, runs=2, replan="growth:0.1")
    figure = Figure(figsize=(5, 3.4), layout="constrained")
    axes = figure.subplots()
    for curve in result.curves:
        axes.plot(result.checkpoints, curve, color="teal")
    axes.set(xlabel="users", ylabel="regret", title="ε = 2")
    return figure
