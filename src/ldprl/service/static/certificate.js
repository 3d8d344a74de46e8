// The first card: what users' own answers say of the policy, without trust in any model.

import { byId, say } from "./dom.js";
import { count, decimal, interval, percentAtLeast } from "./words.js";

/** Show the certificate, if the deployment has any. */
export function showCertificate(certificate, reward) {
  byId("certificate-card").hidden = certificate === null;
  if (certificate === null) return;
  const { headline, tone, detail } = certified(certificate, reward);
  say(byId("certified"), headline);
  byId("certified").className = `figure ${tone}`;
  say(byId("certified-words"), detail);
  byId("changed").hidden = certificate.change === null;
  if (certificate.change !== null) say(byId("changed"), changed(certificate));
}

/** Return in words that the world seems to have changed. */
function changed({ change, alarm }) {
  const which = change.policy === null ? "the incumbent" : `policy ${change.policy + 1}`;
  return (
    `The world seems to have changed since about user ${count(change.since)}: ${which} brings ` +
    `${decimal(change.after)} a user instead of ${decimal(change.before)}. Without a change this ` +
    `would ever be said with probability ${alarm} at most.`
  );
}

/** Return the best that is certain, in words. */
export function certified({ policies, current, incumbent, confidence }, reward) {
  const sure = `${percentAtLeast(confidence)} sure`;
  if (policies.every(({ users }) => users === 0)) {
    return { headline: "No answers yet", tone: "", detail: "Some users will say how it went." };
  }
  if (incumbent === null) {
    const { worth, users } = policies[current];
    const headline = `${interval(worth)} a user`;
    return { headline, tone: "", detail: `times “${reward}”, ${sure}, from ${answers(users)}.` };
  }
  // All certificates hold at once, so the one that promises most may be shown.
  const best = policies.reduce((one, other) => (other.better.low > one.better.low ? other : one));
  const { better, users, chosen_at: chosen } = best;
  const from = `${sure}, from ${answers(users)} and ${answers(incumbent.users)} of the incumbent`;
  const which =
    best === policies[current]
      ? ""
      : ` This is the policy chosen after ${count(chosen)} users; its successor has ` +
        `${answers(policies[current]?.users ?? 0)} so far.`;
  if (better.low > 0) {
    const headline = `Better than the incumbent by ${interval(better)} a user`;
    return { headline, tone: "good", detail: `${from}.${which}` };
  }
  if (better.high < 0) {
    const loss = interval({ low: -better.high, high: -better.low });
    const headline = `Worse than the incumbent by ${loss} a user`;
    return { headline, tone: "bad", detail: `${from}.${which}` };
  }
  return {
    headline: "Not certain yet whether it is better than the incumbent",
    tone: "warn",
    detail: `From ${interval(better)} a user more, ${from}.${which}`,
  };
}

function answers(users) {
  return `${count(users)} ${users === 1 ? "user" : "users"}`;
}
