"""The report: one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
from comparison import Comparison
from pictures import COLOURS
from world import ACTIONS, MOODS, QUARTERS, STANDINGS, STATES

_STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Findings:
    """All that the run found out.

    Attributes
    ----------
    users, epsilon, pair
        How many took part, at which ε, with which learner and mechanism.
    epsilon_needed, most_epsilon
        The ε that the target takes by ``advise`` (None: more than it tried), and the most allowed.
    advice, crowd, dashboard, audit
        What ``advise``, ``simulate-users``, ``/v1/dashboard`` and ``audit`` said, as JSON.
    screenshots
        Captions and pictures of the dashboard, or why there are none.
    comparison
        What was learnt against the true world.
    statement
        The privacy statement, in words.
    advice_picture, learning_picture
        PNG files.
    """

    users: int
    epsilon: float
    epsilon_needed: float | None
    most_epsilon: float
    pair: tuple[str, str]
    advice: dict[str, Any]
    advice_picture: bytes
    crowd: dict[str, Any]
    dashboard: dict[str, Any]
    screenshots: list[tuple[str, bytes]] | str
    comparison: Comparison
    learning_picture: bytes
    audit: dict[str, Any]
    statement: str


def page(found: Findings) -> str:
    """Return the report."""
    parts = (_head(found), _choice(found), _service(found), _learnt(found), _privacy(found))
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>An adviser that never sees its users</title>\n<style>{_STYLE}</style></head>\n"
        f"<body>\n<main>\n{''.join(parts)}</main>\n</body>\n</html>\n"
    )


def _head(found: Findings) -> str:
    seen = found.comparison
    reached = seen.learnt_value / seen.best_value
    return f"""<h1>An adviser that never sees its users</h1>
<p class="lead">{found.users:,} simulated households followed a service's advice for {QUARTERS}
quarters each. Each sent one randomized answer and nothing else. This is what the service learnt
from the answers, and what that cost. World and households are made up (<code>world.py</code> says
how): nothing here is advice.</p>
<dl class="figures">
{_figure(f"ε = {found.epsilon:g}", "what one report can give away, at most")}
{_figure(f"{found.users:,}", "households, one report each")}
{_figure(f"{reached:.1%}", "of the best advice's value, by the learnt policy")}
{_figure(found.audit["verdict"], "the privacy claim, under attack")}
</dl>
"""


def _choice(found: Findings) -> str:
    advice, needed = found.advice, found.epsilon_needed
    target = advice["target_loss"]
    body = "".join(
        f"<tr{_chosen(row['epsilon'] == needed)}><td>{row['epsilon']:g}</td>"
        f"<td>{row['loss']:.2f}{_error(row)}</td><td>{row['fitted_loss']:.2f}</td></tr>\n"
        for row in advice["near"]
    )
    if needed is None:
        why = f"No ε that it tried is enough; the most that is allowed is {found.epsilon:g}."
    elif needed > found.most_epsilon:
        why = f"That would take ε = {needed:g}; the most that is allowed is {found.epsilon:g}."
    else:
        why = f"By its forecast ε = {needed:g} is enough, and that is taken."
    changes = "".join(f"<li>{escape(line)}</li>" for line in advice["what_would_change"])
    return f"""<h2>1. Which ε?</h2>
<p>The operator wants a policy loss of at most {target:g} ({_lowered(advice["policy_loss"])})
and asks nobody for more than ε = {found.most_epsilon:g}. <code>ldprl advise</code> simulated this
world with {found.users:,} users. {why} A report can then shift the odds between any two courses of
events by a factor of {exp(found.epsilon):.0f} at most. Learner and mechanism are {found.pair[0]}
and {found.pair[1]}: a confidence set that is proved, and ε without a δ.</p>
<table class="numbers"><caption>Forecast policy loss after {found.users:,} users: mean over runs ±
standard error, and the nearest losses that fall with ε</caption>
<tr><th>ε</th><th>simulated</th><th>fitted</th></tr>
{body}</table>
{_picture(found.advice_picture, "Forecasts of ldprl advise", "png")}
<p>In its own words: {escape(advice["recommendation"]["sentence"])} What would change it:</p>
<ul>{changes}</ul>
"""


def _service(found: Findings) -> str:
    crowd = found.crowd
    refused = sum(crowd["refused"].values())
    if isinstance(found.screenshots, str):
        shots = f'<p class="note">No pictures of the dashboard: {escape(found.screenshots)}.</p>\n'
    else:
        shots = "".join(_picture(data, text, "jpeg") for text, data in found.screenshots)
        shots = f'<div class="shots">\n{shots}</div>\n'
    return f"""<h2>2. The service at work</h2>
<p><code>ldprl serve</code> ran on SQLite; <code>ldprl simulate-users</code> sent
{crowd["users"]:,} households to it in {crowd["seconds"]:.0f} s
({crowd["users"] / max(crowd["seconds"], 1e-9):,.0f} a second): {crowd["counted"]:,} reports
counted, {crowd["duplicate"]:,} duplicate, {refused:,} refused. At the end it had published version
{found.dashboard["version"]} of its advice. The dashboard shows what the operator sees: private sums
and what follows from them, never a household.</p>
{shots}"""


def _learnt(found: Findings) -> str:
    seen = found.comparison
    in_force = seen.best_value - seen.plan_losses[-1]
    constant = max(range(len(ACTIONS)), key=lambda action: seen.same_for_all[action])
    values = (
        ("the best advice there is", seen.best_value),
        ("the learnt policy", seen.learnt_value),
        ("the plan in force, which still explores", in_force),
        (f"{ACTIONS[constant]} for everybody", seen.same_for_all[constant]),
        ("advice at random", seen.random_value),
    )
    rows = "".join(
        f"<tr{_chosen(value == seen.learnt_value)}><td>{name}</td><td>{value:.3f}</td>"
        f"<td>{value / seen.best_value:.1%}</td><td>{seen.policy_loss(value):.3f}</td></tr>\n"
        for name, value in values
    )
    progress = found.dashboard["progress"]
    return f"""<h2>3. What was learnt</h2>
{_picture(found.learning_picture, "Left: loss as users come. Right: the two policies.", "png")}
<table class="numbers"><caption>Goals met in {QUARTERS} quarters, on average, in the true
world</caption>
<tr><th>advice</th><th>goals met</th><th>of the best</th><th>policy loss</th></tr>
{rows}</table>
{_remaining(found)}
<p>The service cannot see the true world. Its own dashboard put the learnt policy at
{progress["value"]:.2f} goals (90% of the models that fit the reports: {progress["low"]:.2f} to
{progress["high"]:.2f}); the truth is {seen.learnt_value:.2f}.</p>
{_policy(seen)}"""


def _remaining(found: Findings) -> str:
    seen, crowd = found.comparison, found.crowd
    loss = seen.best_value - seen.learnt_value
    differ = int((seen.learnt != seen.best).sum())
    users = crowd["users"]
    mean = crowd["regret"][-1] / users
    # On the scale of the forecast: the policy loss of the later half.
    half = float(np.interp(users / 2, crowd["checkpoints"], crowd["regret"]))
    later = (crowd["regret"][-1] - half) / (users / 2)
    measured = seen.policy_loss(seen.best_value - later)
    forecast = min(found.advice["near"], key=lambda one: abs(one["epsilon"] - found.epsilon))
    ahead = found.advice["later"]
    return f"""<p>What remains: the learnt policy differs from the best in {differ} of
{seen.best.size} decisions, which costs {loss:.3f} goals a household. The plan in force, which also
asks about what is not settled, loses {seen.plan_losses[-1]:.3f}; while they taught the service, the
{users:,} households lost {mean:.2f} goals each on average.</p>
<p>Was the forecast right? At ε = {forecast["epsilon"]:g} <code>ldprl advise</code> expected a
policy loss of {forecast["loss"]:.2f}{_error(forecast)} for the later half of the households; theirs
was {measured:.2f}. With {ahead["users"]:,} users it expects {ahead["loss"]:.2f}.</p>
"""


def _error(forecast: dict[str, Any]) -> str:
    error = forecast["standard_error"]
    return "" if error is None else f" ± {error:.2f}"


def _policy(seen: Comparison) -> str:
    heads = "".join(f"<th>quarter {step + 1}</th>" for step in range(QUARTERS))
    body = ""
    for state in range(len(STATES)):
        mood, standing = divmod(state, len(STANDINGS))
        if standing == 0:
            body += (
                f'<tr class="mood"><th colspan="{QUARTERS + 1}">{MOODS[mood]} market</th></tr>\n'
            )
        cells = "".join(_cell(seen, step, state) for step in range(QUARTERS))
        body += f"<tr><th>{STANDINGS[standing]}</th>{cells}</tr>\n"
    return f"""<table class="policy"><caption>The learnt policy. Where another action is better, it
stands below, with the goals that this decision costs an average household; all costs add up to the
loss above.</caption>
<tr><th></th>{heads}</tr>
{body}</table>
"""


def _cell(seen: Comparison, step: int, state: int) -> str:
    advised, best = int(seen.learnt[step, state]), int(seen.best[step, state])
    note = ""
    if advised != best:
        note = f"<small>better: {ACTIONS[best]} ({seen.costs[step, state]:.4f})</small>"
    return f'<td style="--action: {COLOURS[advised]}">{ACTIONS[advised]}{note}</td>'


def _privacy(found: Findings) -> str:
    audit = found.audit
    claimed = audit["claimed"]
    return f"""<h2>4. Is it private?</h2>
<p><code>ldprl audit</code> let two households, as different as can be ({escape(audit["pair"])}),
report {audit["samples"]:,} times each and distinguished them as well as it could
({escape(audit["attack"])} attack). Claimed: ε = {claimed["epsilon"]:g}, δ = {claimed["delta"]:g}.
Computed for the code as built: δ = {audit["exact_delta"]:g} at that ε. Proved by the attack, with
probability 1 − 10⁻⁶: ε ≥ {audit["empirical_epsilon_lower"]:.2f}. Verdict: the claim
<strong>{escape(audit["verdict"])}</strong>.</p>
<p>What the households can read, by <code>ldprl statement</code>:</p>
<pre>{escape(found.statement.strip())}</pre>
"""


def _figure(number: str, meaning: str) -> str:
    return f"<div><dt>{escape(number)}</dt><dd>{escape(meaning)}</dd></div>"


def _picture(data: bytes, caption: str, kind: str) -> str:
    inside = base64.b64encode(data).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/{kind};base64,{inside}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>\n"
    )


def _chosen(marked: bool) -> str:
    return ' class="chosen"' if marked else ""


def _lowered(sentence: str) -> str:
    return escape(sentence[0].lower() + sentence[1:].rstrip("."))
