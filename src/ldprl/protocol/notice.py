"""A draft of a privacy notice: what the code keeps, in numbers, with gaps for those who decide.

Words in square brackets are the gaps. The page ``docs/law.md`` says what each of them is about.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from ldprl.accounting.composition import Budget
from ldprl.accounting.filter import admits
from ldprl.accounting.words import at_most_sure, bullets, chance, odds, paragraph
from ldprl.errors import InputError, positive, whole_number
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.duration import GRACE_HOURS
from ldprl.protocol.statement import PrivacyStatement, returning_in_words
from ldprl.rounding import at_most

_MOST_REPORTS = 10_000
"""More reports of a user than these are not told apart."""
_ANSWERS = "[What a report answers: see the page of the mechanism.]"
_TO_DECIDE = (
    "the legal basis, and for data on health, and the like, the exception that allows it: reports"
    " are about a person when they are made, whatever noise is in them",
    "whether reports, ids and sums are personal data in your hands: this text does not say so, and"
    " an ε is no legal category",
    "who is controller, joint controller or processor: you, who runs the relay, who runs the"
    " machines; and the contracts between you",
    "whether storing a ledger on the device is strictly necessary for what the user asked for, or"
    " needs consent",
    "whether advice that an automated policy gives affects users so much that special rules hold",
    "whether a data protection impact assessment is needed; the page on law has what it may take"
    " from here",
    "children, transfers to other countries, and the periods in brackets",
)


@dataclass(frozen=True)
class Taking:
    """How often a user may take part: what the app sets on the device.

    Attributes
    ----------
    reports
        Reports of a user; None: as many as ``budget`` allows, or one without it.
    budget
        What all of them may cost together; None: one report, ever.
    days
        The budget is for any so many days; None: for ever.
    """

    reports: int | None = None
    budget: Budget | None = None
    days: float | None = None

    def most(self, cost: Budget) -> int:
        """Return how many reports a device makes, or refuse what its ledger would refuse."""
        most, why = 1, "without a budget a device makes one report, ever"
        if self.budget is not None:
            budget = self.budget
            most = bisect_left(
                range(_MOST_REPORTS), True, key=lambda n: not admits([cost] * (n + 1), budget)
            )
            why = f"a budget of {budget} admits no more reports of {cost}"
            if most == 0:
                raise InputError("budget", str(budget), f"at least one report's cost, {cost}")
        if self.days is not None:
            positive("days", self.days)
            if self.budget is None:
                raise InputError("days", self.days, "a budget for these days too")
        if self.reports is None:
            return most
        if whole_number("reports", self.reports, 1) > most:
            raise InputError("reports", self.reports, f"at most {most}: {why}")
        return self.reports

    @property
    def period(self) -> str:
        """In which time the budget may be spent."""
        return "ever" if self.days is None else f"in any {self.days:g} days"


def privacy_notice(deployment: Deployment, statement: PrivacyStatement, taking: Taking) -> str:
    """Return a draft of a privacy notice for the users of a deployment, in Markdown.

    Parameters
    ----------
    deployment
        What is served.
    statement
        Its privacy statement, with the relay if there is one, for ``taking.most`` reports.
    taking
        How often a user takes part.
    """
    if not (statement.private and statement.holds):
        expected = "one that is as private as it says: there is nothing to promise"
        raise InputError("mechanism", statement.name, expected)
    title = deployment.labels.document(deployment.problem)["title"] or deployment.name
    parts = [
        f"# Privacy notice: {title}",
        paragraph(
            "Draft. What the software does is filled in; what stands in square brackets is for you."
        ),
        "## Who is responsible",
        paragraph(_responsible(deployment)),
        "## What your device sends",
        paragraph(f"{statement.headline()} {statement.report or _ANSWERS}{_certified(deployment)}"),
        paragraph(
            "A report carries a random number that your device draws for it alone, so that one that"
            " arrives twice counts once. It carries no name, no account and no number of the"
            " device. Whoever your connection ends at sees your network address: [who that is, and"
            " that addresses are not stored, or for how long]. The service stores none."
        ),
        "## What a report says about you",
        paragraph(statement.meaning()),
        *([paragraph(statement.promises(statement.mixed))] if statement.mixed else []),
        "## If you take part more than once",
        *_several(statement, taking),
        "## What is kept, where, and for how long",
        _kept(deployment),
        "## Your rights",
        *_rights(),
        "## What this does not protect",
        bullets("Noise in a report does not hide:", statement.not_protected),
        "## For your lawyer, and not part of the notice",
        bullets("Still to be decided:", _TO_DECIDE),
    ]
    return "\n\n".join(parts) + "\n"


def _responsible(deployment: Deployment) -> str:
    said = (
        "[Name, address and contact of the controller, and of the data protection officer.]"
        " [Purpose, and legal basis.]"
    )
    if deployment.shuffle is None:
        return said
    return (
        f"{said} Reports reach us through a relay that [name of another organisation] runs."
        " It sees that you take part, and when, but cannot read your report: it is sealed"
        " for us. We can read reports, mixed, and cannot see whose they are unless it tells us."
        " [Whether it is a processor or a controller, and that the contract forbids it to tell.]"
    )


def _certified(deployment: Deployment) -> str:
    """Say what those are asked who answer for a certificate."""
    if (certified := deployment.certificate) is None:
        return ""
    before = ""
    if deployment.incumbent is not None:
        before = ", and some of them are given the policy that was in use before [which that is]"
    return (
        f" About {100 * float(certified.share):g}% of those who take part, chosen without a look at"
        " your data, are asked only whether the sum of their rewards was above a number that was"
        f" drawn at random{before}."
    )


def _several(statement: PrivacyStatement, taking: Taking) -> list[str]:
    given, number = statement.given, statement.returning[-1].reports
    times = "once" if number == 1 else f"at most {number:,} times"
    head = (
        f"The app takes part {times} {taking.period}, and your device keeps the account; we cannot"
        " tell whether two reports are from the same person. All of them together say no more"
        " about you than one report would with:"
    )
    parts = [bullets(head, map(returning_in_words, statement.returning))]
    level = taking.budget or Budget(given.epsilon, given.delta)
    if taking.budget is not None:
        parts.append(paragraph(_within(level, taking.period)))
    two = float(2 * level.epsilon)
    parts.append(
        paragraph(
            "Each device keeps its own account. If you use two, or delete the app and install it"
            f" again, twice as much may go out: ε = {at_most(two, 6)}, a factor of {odds(two)}."
            " Other apps that ask for reports have accounts of their own, and what they send adds"
            " up with this."
        )
    )
    return parts


def _within(budget: Budget, period: str) -> str:
    """Say what a budget lets all reports of a device change."""
    epsilon, delta = float(budget.epsilon), float(budget.delta)
    away = f"with a chance of {chance(delta)} (δ) you are given away; otherwise " if delta else ""
    return (
        f"What your device sends {period} costs no more than a budget of ε ="
        f" {at_most(epsilon, 6)}, whatever we ask. So all of it says no more about you than this"
        f" would: {away}the odds between two courses of events change by at most a factor of"
        f" {odds(epsilon)}, and somebody who found them equally likely can become"
        f" {at_most_sure(epsilon)} sure of one."
    )


def _kept(deployment: Deployment) -> str:
    window = deployment.report_window_hours
    duration = deployment.duration
    episode = "until your report is made" + (
        f", {duration.days:,.3g} days after it began" if duration is not None else ""
    )
    rows = [
        ("what happened to you", "your device", episode),
        ("the account of your reports", "your device", "as long as the app: it keeps the promise"),
        (
            "a report that has arrived",
            "nowhere by itself: it is added to sums over users",
            "the sums stay [until the service ends, or as decided]",
        ),
        (
            "the random number of a report",
            "the service",
            f"until {window + GRACE_HOURS:,} hours after the policy that it was made under was"
            " replaced",
        ),
        ("backups of sums and numbers", "[where]", "[days]"),
    ]
    if (shuffle := deployment.shuffle) is not None:
        rows.insert(
            2,
            (
                "a sealed report",
                "the relay",
                f"until {shuffle.crowd:,} are there and the service has answered; destroyed"
                f" unread {window:,} hours after the policy was replaced",
            ),
        )
    head = ["| what | where | how long |", "|---|---|---|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])


def _rights() -> list[str]:
    return [
        paragraph(
            "You can stop at any time, in [where]: from then on nothing is begun. Deleting the app,"
            " or its data, deletes what is on your device, the account of your reports too."
        ),
        paragraph(
            "What has been counted cannot be found again: a report is added to a sum and not kept,"
            " and nothing in a sum says which part is yours. (A sum of few reports says as much as"
            " they do, and the promise above is about that.) So we can neither show it to you nor"
            " correct or erase it. [What the law says of requests that"
            " cannot be met because we cannot identify you; how to complain, and to whom.]"
        ),
        paragraph(
            "If a court or an authority orders us to keep data, we keep sums, backups, and random"
            " numbers that have not expired. We have nothing else to hand over: no report, and no"
            " list of who took part. [What the proxy, the app's store and accounts keep.]"
        ),
    ]
