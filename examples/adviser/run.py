"""An adviser service from the first question to the report, in one run.

Asks ``ldprl advise`` for an ε, serves the deployment, lets 50,000 simulated households take part,
photographs the dashboard, exports what was learnt, holds it against the true world, audits the
mechanism, and writes it all into one HTML page::

    python examples/adviser/run.py --out out/adviser

It takes a few minutes on two idle cores; ``--users 2000`` makes it short.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from comparison import compare
from pictures import draw_learning
from programs import Camera, FailedError, ask, ldprl, serving, started
from report import Findings, page
from world import ACTIONS, QUARTERS, STATES, make_world, write

TARGET_LOSS = 0.25  # A quarter of what separates the best advice from random.
MOST_EPSILON = 4.0  # What the operator is ready to ask of users, whatever it would bring.
PAIR = ("ldp-evi", "subset-selection")  # A confidence set that is proved, and ε without a δ.
MOMENTS = (0.02, 0.2)  # When to look at the dashboard, in shares of the users; and at the end.
_STARTED = time.monotonic()


def main() -> None:
    """Run the case, and print where the report is."""
    options = parsed()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    try:
        with tempfile.TemporaryDirectory(prefix="adviser-") as folder:
            findings = run(options, out, Path(folder))
    except (FailedError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped")
    report = out / "report.html"
    report.write_text(page(findings), encoding="utf-8")
    print(report)


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    for option, default, meaning in (
        ("--users", 50_000, "simulated households"),
        ("--advice-runs", 30, "runs of each forecast"),
        ("--audit-samples", 50_000, "reports of each of two users to attack"),
    ):
        parser.add_argument(
            option, type=int, default=default, metavar="N", help=f"{meaning} [{default:,}]"
        )
    return parser.parse_args()


def run(options: argparse.Namespace, out: Path, folder: Path) -> Findings:
    """Go through the stages."""
    world, users = make_world(), options.users
    (folder / "world.json").write_text(world.to_json(), encoding="utf-8")
    say(f"asking ldprl advise for an ε for {users:,} users")
    advice = json.loads(
        ldprl(
            *("advise", "--mdp", folder / "world.json", "--users", users),
            *("--target-loss", TARGET_LOSS, "--runs", options.advice_runs),
            *("--learner", PAIR[0], "--mechanism", PAIR[1]),
            *("--plot", folder / "advice.png", "--json"),
        )
    )
    needed, epsilon = chosen_epsilon(advice)
    say(f"taking ε = {epsilon:g}")
    write(folder, epsilon)
    crowd, export, dashboard, shots = served(folder, users)
    (out / "export.json").write_text(json.dumps(export), encoding="utf-8")
    say("comparing what was learnt with the true world")
    comparison = compare(world, np.array(dashboard["best"]), export["plans"])
    draw_learning(comparison, crowd["checkpoints"], crowd["regret"], out / "learning.png")
    sizes = ("--states", len(STATES), "--actions", len(ACTIONS), "--horizon", QUARTERS)
    mechanism = ("--mechanism", PAIR[1], *sizes, "--epsilon", epsilon)
    say(f"auditing {PAIR[1]} with {options.audit_samples:,} reports of each user")
    samples = ("--samples", options.audit_samples)
    # Exit code 1 says that the claim is violated: the report must show it.
    audit = json.loads(ldprl("audit", *mechanism, *samples, "--json", accept=(0, 1)))
    return Findings(
        users=users,
        epsilon=epsilon,
        epsilon_needed=needed,
        most_epsilon=MOST_EPSILON,
        pair=PAIR,
        advice=advice,
        advice_picture=(folder / "advice.png").read_bytes(),
        crowd=crowd,
        dashboard=dashboard,
        screenshots=shots,
        comparison=comparison,
        learning_picture=(out / "learning.png").read_bytes(),
        audit=audit,
        statement=ldprl("statement", *mechanism),
    )


def chosen_epsilon(advice: dict[str, Any]) -> tuple[float | None, float]:
    """Return the ε that the target takes (None: more than was tried), and the one to deploy."""
    found = advice["recommendation"]
    needed = found["epsilon"] if found["reaches_target"] else None
    return needed, MOST_EPSILON if needed is None else min(needed, MOST_EPSILON)


def served(
    folder: Path, users: int
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[tuple[str, bytes]] | str]:
    """Serve, let the users in, and return what they, the export and the dashboard say.

    The last value is pictures of the dashboard with their captions, or why there are none.
    """
    token = json.loads(ldprl("keys", "token", "--json"))
    say("starting ldprl serve")
    with serving(folder / "deployment.toml", folder, token["hash"]) as url, Camera() as camera:
        say(f"letting {users:,} users in at {url}")
        if camera.missing:
            say(f"no pictures of the dashboard: {camera.missing}")
        words = ("simulate-users", url, "--users", users, "--mdp", folder / "world.json", "--json")
        with started(*words, stdout=subprocess.PIPE) as program:
            shots = watched(url, camera, users, program)
            printed, _ = program.communicate()
        if program.returncode:
            raise FailedError(f"ldprl simulate-users ended with exit code {program.returncode}")
        say("planning once more, and exporting")
        ask(f"{url}/v1/admin/publish", token["token"], "POST")
        export = ask(f"{url}/v1/admin/export", token["token"])
        dashboard = ask(f"{url}/v1/dashboard")
        # The dashboard's numbers are a moment old.
        while dashboard["users"] < export["totals"]["users"]:
            time.sleep(0.2)
            dashboard = ask(f"{url}/v1/dashboard")
        if not camera.missing:
            shots.append(camera.shoot(url))
    return json.loads(printed), export, dashboard, camera.missing or shots


def watched(
    url: str, camera: Camera, users: int, program: subprocess.Popen[str]
) -> list[tuple[str, bytes]]:
    """Photograph the dashboard at the MOMENTS while users come."""
    shots: list[tuple[str, bytes]] = []
    for share in MOMENTS:
        while (seen := ask(f"{url}/v1/status")["users"]) < share * users:
            if program.poll() is not None:
                return shots
            time.sleep(0.2)
        say(f"{seen:,} users have reported")
        if not camera.missing:
            shots.append(camera.shoot(url))
    return shots


def say(text: str) -> None:
    """Print progress to stderr."""
    print(f"[{time.monotonic() - _STARTED:4.0f} s] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
