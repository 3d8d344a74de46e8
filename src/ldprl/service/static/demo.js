// The visitor's page: an episode that stays here, and the one report that leaves.

import { answerInWords, oddsInWords, questionInWords, setInWords } from "./answers.js";
import { byId, element, say } from "./dom.js";
import { Client, ForgetfulStorage, SystemSource, explain, servedDigest } from "./ldprl.js";
import { ATTEMPTS, sendOnce, shownReport } from "./report.js";
import { count } from "./words.js";
import { fetchWorld, fits, start, step } from "./world.js";

const DEMO = "investment-demo";

async function playEpisode(world) {
  // Each episode here is that of a new, invented user: the ledger goes with the page, and whatever
  // deployment the service has is the one to show.
  const calls = { attempts: ATTEMPTS };
  const digest = await servedDigest(location.origin, calls);
  const client = new Client(location.origin, { digest, storage: new ForgetfulStorage(), ...calls });
  const deployment = await client.deployment();
  if (deployment.name !== DEMO || !fits(world, deployment)) {
    throw new Error("this service runs another deployment, not the savings demo");
  }
  const episode = await client.begin();
  const { assignment } = episode;
  const { labels, shape } = deployment;
  let state = start(world);
  let isAdvised = true;
  say(byId("reward-name"), `${capital(labels.reward)}?`);
  byId("trajectory").replaceChildren();
  byId("nothing-yet").hidden = false;
  byId("report").hidden = byId("doubt").hidden = true;
  byId("content").hidden = byId("episode").hidden = false;
  say(byId("outcome"), "");
  for (let month = 0; month < shape.horizon; month += 1) {
    const advised = assignment.policy[month][state];
    const action = await choose(labels, shape.horizon, month, state, advised);
    const { reward, next } = step(world, state, action);
    // Who does otherwise has left the episode, and has nothing to report.
    isAdvised &&= action === advised;
    if (isAdvised) {
      await episode.action(state);
      await episode.record(reward, { next });
    }
    remember(labels, month, state, action, reward);
    say(byId("outcome"), `Month ${month + 1}: ${reward ? "" : "not "}${labels.reward}.`);
    state = next;
  }
  byId("episode").hidden = true;
  const data = episode.data();
  const entry = await episode.report({ send: false });
  showReport(deployment, assignment, data, entry);
  byId("send").onclick = () => sendOnce(client, entry);
}

function choose({ states, actions }, horizon, month, state, advised) {
  say(byId("when"), `Month ${month + 1} of ${horizon}`);
  say(byId("situation"), `You are ${states[state]}.`);
  say(byId("advice"), actions[advised]);
  byId("when").focus({ preventScroll: true });
  return new Promise((resolve) => {
    const others = actions.map((_, a) => a).filter((a) => a !== advised);
    const buttons = [advised, ...others].map((a) => {
      const [style, note] = a === advised ? ["main", "as advised"] : ["other", "against the advice"];
      const words = [capital(actions[a]), element("small", {}, note)];
      return element("button", { type: "button", class: style, click: () => resolve(a) }, ...words);
    });
    byId("choices").replaceChildren(...buttons);
  });
}

function remember({ states, actions }, month, state, action, reward) {
  byId("nothing-yet").hidden = true;
  const cells = [states[state], actions[action], reward ? "yes" : "no"];
  const row = element("tr", {}, element("th", { scope: "row" }, `${month + 1}`));
  row.append(...cells.map((words) => element("td", {}, words)));
  byId("trajectory").append(row);
}

function showReport(deployment, assignment, trajectory, entry) {
  const report = JSON.parse(entry.body);
  const explanation = explain(deployment, assignment, report.values);
  say(byId("episodes"), count(Number(explanation.episodes)));
  // At the demo's ε there is one question.
  const [question] = explanation.questions ?? [];
  say(byId("odds"), oddsInWords({ ...explanation, ...question }));
  say(
    byId("promise"),
    `With ε = ${deployment.epsilon} this holds for every report and every pair of episodes, ` +
      `whatever else anybody knows. An episode is a state and an outcome for each month, or to ` +
      `have stopped.`,
  );
  if (question !== undefined) showAnswers(deployment, assignment, trajectory, report.values);
  byId("doubt").hidden = false;
  shownReport(report);
}

function showAnswers({ randomizer, labels }, assignment, trajectory, values) {
  const [question] = assignment.questions;
  const [reported] = randomizer.answered(assignment, values);
  // Rewards here are 0 or 1: nothing is rounded, so that the item is the one that was hidden.
  const own = randomizer.held(trajectory, assignment.policy, question, new SystemSource());
  const { items } = question.oracle;
  say(byId("question"), questionInWords(question, labels));
  say(byId("meaning"), setInWords(question.oracle, own === items - 1));
  const entries = Array.from({ length: items }, (_, item) => {
    const isReported = reported.includes(item);
    const style = `${isReported ? "reported" : ""} ${own === item ? "own" : ""}`;
    const sent = isReported ? element("span", { class: "hidden-text" }, " (reported)") : "";
    const answer = randomizer.meaning(question, item);
    return element("li", { class: style }, answerInWords(answer, labels), sent);
  });
  byId("answers").replaceChildren(...entries);
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

async function play() {
  byId("trouble").hidden = true;
  try {
    await playEpisode(await fetchWorld());
  } catch (error) {
    say(byId("trouble"), `The demo cannot continue: ${error.message}.`);
    byId("trouble").hidden = false;
  }
}

byId("again").addEventListener("click", play);
play();
