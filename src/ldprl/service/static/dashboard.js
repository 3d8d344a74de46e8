// The operator's page: live numbers of /v1/dashboard.

import { showCertificate } from "./certificate.js";
import { byId, element, say, shareBar } from "./dom.js";
import { historyView } from "./history.js";
import { modelView } from "./model.js";
import { STALE, poll } from "./poll.js";
import { policyView } from "./policy.js";
import { showEarned, weightsView } from "./weights.js";
import { ago, cause, count, decimal, decimalAtMost, percent, percentAtMost, rough } from "./words.js";

const DEMOS = ["investment-demo", "glucose-demo"];
const USABLE = 0.9;
const PROMISING = 0.5;

let views = null;
let latest = null;

function show(data) {
  latest = data;
  if (views?.digest !== data.deployment.digest) views = build(data);
  showCounts(data);
  showLearning(data);
  showCertificate(data.certificate, data.deployment.reward);
  byId("history-card").hidden = data.history.length < 2;
  views.history.update(data.history);
  // Return bits show which actions are best, but give no model.
  const hasModel = data.progress !== null;
  const hasVectors = views.hasVectors;
  for (const id of ["settled-card", "model-card", "settled-words"]) byId(id).hidden = !hasModel;
  byId("policy-words").hidden = hasVectors;
  byId("value-card").hidden = !hasModel && !hasVectors;
  byId("policy-card").hidden = data.policy === null;
  if (hasModel) showProgress(data);
  if (hasVectors) {
    showEarned(data.learning, data.deployment.reward, byId("value"), byId("loss"));
  }
  views.policy?.update(data);
  if (hasModel) showModel();
  showRefusals(data.refusals);
  byId("content").hidden = false;
}

function build({ deployment, policy, rewards }) {
  const { title, name, digest, reward, epsilon, delta, mechanism, learner } = deployment;
  document.title = title || name;
  say(byId("title"), title || name);
  say(byId("name"), title ? name : "");
  byId("to-demo").hidden = !DEMOS.includes(name);
  say(byId("reward"), reward);
  say(byId("promise"), promise(epsilon, delta));
  say(byId("how"), `Mechanism ${mechanism}, learner ${learner}. ${stored(deployment)}`);
  say(byId("digest"), digest);
  // A table has a row for each step; a policy on vectors states its features.
  const hasVectors = policy !== null && !Array.isArray(policy);
  say(byId("value-name"), hasVectors ? "What users earn" : "Worth of the best policy");
  const parts = {
    digest,
    // No view where the service sends nothing to show.
    policy: policy && (hasVectors ? weightsView() : policyView(deployment)),
    hasVectors,
    model: rewards && modelView(deployment),
    history: historyView(deployment),
    epoch: shareBar(),
    settled: shareBar(),
  };
  if (policy) byId("policy").replaceChildren(parts.policy.node);
  if (rewards) byId("model").replaceChildren(parts.model.node);
  byId("history").replaceChildren(parts.history.node);
  byId("epoch-bar").replaceChildren(parts.epoch.node);
  byId("settled-bar").replaceChildren(parts.settled.node);
  return parts;
}

function promise(epsilon, delta) {
  const loose = Number(delta) > 0;
  const says = loose
    ? `it says no more than one that gives the user away with a chance of ${delta} (δ), and else `
    : "whatever it says, it ";
  return (
    `A user's episode stays on the user's device. One randomized report leaves it: ` +
    `${says}leaves anybody who took two episodes to be equally likely at most ` +
    `${percentAtMost(1 / (1 + Math.exp(-Number(epsilon))))} sure which of them it was ` +
    `(ε = ${epsilon}). This holds against everybody, this service included.`
  );
}

function stored({ report_window_hours: hours }) {
  return (
    `Reports are added up and not kept; their random ids are kept while their policy may be ` +
    `reported under (${hours} h after it is replaced). No addresses, no times.`
  );
}

function showCounts({ users, version, planned_at: from, next_plan_at: to, paused, contradictions, model_change: change }) {
  say(byId("users"), count(users));
  const wrong =
    (contradictions.length > 0 && `Reports contradict what is stated: ${contradictions.join("; ")}`) ||
    (change !== null && `Since about user ${count(change.since)} the environment is a different one: ${change.differences.join("; ")}`);
  const state = paused ? "Paused: no reports are taken" : wrong || "reports that are counted";
  say(byId("paused"), state);
  byId("paused").className = paused || wrong ? "bad" : "soft";
  say(byId("version"), `${version}`);
  views.epoch.update((users - from) / (to - from));
  const left = to - users;
  const next = left > 0 ? `next in ${count(left)} users, at ${count(to)}` : "the next is being made";
  say(byId("epoch"), `made from ${count(from)} users; ${next}`);
}

function showLearning({ learning }) {
  byId("learnt-card").hidden = learning === null;
  if (learning === null) return;
  const { closed, significant, said } = learning;
  say(byId("learnt"), significant ? percent(Math.max(closed, 0)) : "–");
  say(byId("learnt-words"), said);
}

function showProgress({ users, progress, deployment: { reward } }) {
  const { settled, value, low, high, loss, start_known: startKnown, more_users: more } = progress;
  say(byId("settled"), users === 0 ? "–" : percent(settled));
  views.settled.update(settled);
  const [words, tone] = usable(users, settled, more);
  say(byId("usable"), words);
  byId("usable").className = tone;
  say(byId("value"), users === 0 ? "–" : `${decimal(value)} of ${decimal(value + loss)}`);
  if (users === 0) return say(byId("loss"), "Nothing is known before the first report.");
  const start = startKnown ? "" : ", all starts taken as equally likely";
  say(
    byId("loss"),
    `of the best possible, times “${reward}”; 90% between ${decimal(low)} and ` +
      `${decimal(high)}${start}. What is not known yet may cost ` +
      `${loss < 0.01 ? "less than 0.01" : `about ${decimal(loss)}`}.`,
  );
}

function usable(users, settled, more) {
  if (settled >= USABLE) return ["Usable: little is left to settle", "good"];
  if (users === 0) return ["Waiting for the first report", "soft"];
  const left = more === null ? "too early to say how many more users" : `about ${rough(more)} more users`;
  if (settled >= PROMISING) return [`Promising, not settled yet: ${left}`, "warn"];
  return [`Still exploring, not to be relied on: ${left}`, "bad"];
}

function showModel() {
  const share = Number(byId("hostile").value) / 100;
  say(byId("hostile-share"), percent(share));
  say(byId("hostile-words"), hostileInWords(share, latest));
  views.model.update(latest, share);
}

function hostileInWords(share, { influence, deployment: { states, actions } }) {
  const known = influence.rewards.flatMap((model) =>
    model.flatMap((row, s) => row.map((reach, a) => ({ reach, s, a }))),
  );
  const seen = known.filter(({ reach }) => reach !== null);
  if (seen.length === 0) return "No report counts for anything yet.";
  const worst = seen.reduce((most, cell) => (cell.reach > most.reach ? cell : most));
  const shifts = seen.map(({ reach }) => Math.min(1, share * reach)).sort((x, y) => x - y);
  const middle = shifts[Math.floor(shifts.length / 2)];
  const place = `${states[worst.s]}, ${actions[worst.a]}`;
  return (
    `If this share of users lied together, they could shift the estimates by at most the shaded ranges: ` +
    `${decimalAtMost(middle)} in the middle cell, ` +
    `${decimalAtMost(Math.min(1, share * worst.reach))} in the ` +
    `weakest (${place}).`
  );
}

function showRefusals(refusals) {
  const some = Object.entries(refusals).filter(([, number]) => number > 0);
  byId("none-refused").hidden = some.length > 0;
  const entries = some.flatMap(([name, number]) => [
    element("dt", {}, count(number)),
    element("dd", {}, name, " ", element("span", { class: "soft" }, cause(name))),
  ]);
  byId("refused").replaceChildren(...entries);
}

function showAge(age, trouble) {
  const live = byId("live");
  const stale = age === null ? trouble !== null : age > STALE || trouble !== null;
  const fresh = age === null || latest.paused ? "" : "fresh";
  live.className = `live ${stale ? "stale" : fresh}`;
  document.body.classList.toggle("stale-page", stale && age !== null);
  const when = age === null ? "No numbers yet" : `These numbers are from ${ago(age)}`;
  if (stale) say(live, trouble === null ? when : `${when}: ${trouble}. Trying again…`);
  else if (age !== null) say(live, latest.paused ? "Paused" : "Live");
}

byId("hostile").addEventListener("input", () => latest?.progress && showModel());
poll("/v1/dashboard", show, showAge);
