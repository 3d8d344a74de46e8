"""An insulin pump that gets better by its users' days, and never shows one to anybody.

Each user's pump follows a policy of its own for a day, near the public one: how much insulin,
beside the basal rate, given glucose, its change, insulin on board and carbohydrates. In the evening
it reports one randomized bit: whether the hours in range were more than a public threshold.

    python examples/glucose.py --epsilon 1 --users 10000 --runs 5

The patients are those of the minimal model in ``ldprl.worlds.glucose``: a problem to learn from,
and no simulator to test a treatment with. (The package simglucose, which has the MIT licence,
brings 30 virtual patients of a larger model; their parameters do not fit this one: not used.)
"""

import argparse

import numpy as np

from ldprl import learn
from ldprl.policies.exported import export_policy

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--epsilon", type=float, default=1.0)
parser.add_argument("--users", type=int, default=10_000)
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--out", help="where to write the policy, .json or .onnx")
given = parser.parse_args()

result = learn("glucose", "linear", given.epsilon, given.users, runs=given.runs)
clear = learn("glucose", "linear", None, given.users, runs=given.runs)
print(f"{given.users:,} days of as many users, ε = {given.epsilon:g} each, {given.runs} runs")
print(f"hours in range with the basal rate alone    {result.start_return:.1f}")
print(f"hours in range with the learnt policy       {result.final_return.mean():.1f}")
print(f"  in the worst run                          {result.final_return.min():.1f}")
print(f"  without privacy                           {clear.final_return.mean():.1f}\n")

policy = result.policies[int(np.argmax(result.final_return))]
bias, *weights = policy.parameters / 2.0  # a unit of four inputs divides its sum by 2
print("What the pump does: it adds up, and gives 5·tanh(sum) units beside the basal rate")
for feature, weight in zip(policy.problem.features.each, weights, strict=True):
    centred = f"({feature.name} − {feature.centre})" if feature.centre != "0" else feature.name
    print(f"  {weight:+.2f} · {centred} / {feature.scale} {feature.unit}")
print(f"  {bias:+.2f}")
if given.out:
    export_policy(policy, given.out)
    print(f"written to {given.out}")
