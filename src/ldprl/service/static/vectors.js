// The visitor's page where users see vectors: sliders that stay here, and the one bit that leaves.

import { sureInWords } from "./answers.js";
import { byId, element, say, set, shape } from "./dom.js";
import { Patient, RANGE, RANGES } from "./glucose.js";
import { Client, ForgetfulStorage, explain, servedDigest } from "./ldprl.js";
import { ATTEMPTS, sendOnce, shownReport } from "./report.js";
import { decimal, percent } from "./words.js";

const DEMO = "glucose-demo";
const [WIDTH, HEIGHT] = [560, 180];
/** The least and the largest glucose that the curve has room for. */
const DRAWN = [40, 320];
const FIRST_HOUR = 6;

let client;
let deployment;
let episode;
let patient;
let curve;

async function begin() {
  // Each day here is that of a new, invented user: the ledger goes with the page, and whatever
  // deployment the service has is the one to show.
  const calls = { attempts: ATTEMPTS };
  const digest = await servedDigest(location.origin, calls);
  client = new Client(location.origin, { digest, storage: new ForgetfulStorage(), ...calls });
  deployment = await client.deployment();
  if (deployment.name !== DEMO) throw new Error("this service runs another deployment");
  episode = await client.begin();
  patient = new Patient();
  curve = curveOf(deployment.problem.horizon);
  byId("curve").replaceChildren(curve.node);
  byId("sliders").replaceChildren(...deployment.problem.features.each.map(slider));
  byId("report").hidden = byId("doubt").hidden = true;
  byId("kept-words").hidden = false;
  byId("content").hidden = byId("episode").hidden = false;
  show();
}

/** A slider for one thing that the policy sees; it is set by the day that passes, and by the visitor. */
function slider({ name, unit }, place) {
  const [min, max] = RANGES[place];
  const id = `seen-${place}`;
  const shown = element("output", { for: id, id: `${id}-shown` });
  const change = ({ target }) => {
    patient.set(place, Number(target.value));
    showAdvice();
  };
  const input = element("input", { type: "range", id, min, max, step: "any", input: change });
  const label = element("label", { for: id }, name, " ", shown);
  label.dataset.unit = unit;
  return element("div", {}, label, input);
}

function show() {
  const { step } = episode;
  const { horizon } = deployment.problem;
  say(byId("when"), `${timeAt(step)}, step ${step + 1} of ${horizon}`);
  curve.update(step, patient.glucose);
  const { record } = episode.entry.episode;
  const hours = record?.total ?? 0;
  say(byId("so-far"), `${decimal(hours)} hours in range so far.`);
  say(byId("kept"), record === undefined ? "nothing yet" : JSON.stringify(record));
  if (!episode.done) showAdvice();
}

function showAdvice() {
  const { problem } = deployment;
  patient.seen.forEach((value, place) => {
    const input = byId(`seen-${place}`);
    const { unit } = input.previousSibling.dataset;
    if (Number(input.value) !== value) input.value = String(value);
    say(byId(`seen-${place}-shown`), `${Math.round(10 * value) / 10} ${unit}`);
  });
  const [dose] = problem.act(episode.assignment.policy, patient.seen);
  const [{ unit }] = problem.actions.each;
  const words = `${decimal(Math.abs(dose))} ${unit}`;
  say(byId("advice"), `${words} ${dose < 0 ? "less than" : "beside"} the basal rate`);
}

async function follow(steps) {
  for (const button of buttons()) button.disabled = true;
  try {
    for (let i = 0; i < steps && !episode.done; i += 1) {
      const [dose] = await episode.action(patient.seen);
      await episode.record(patient.live(dose));
      curve.update(episode.step, patient.glucose);
    }
    show();
    if (episode.done) await makeReport();
  } finally {
    for (const button of buttons()) button.disabled = false;
  }
}

function buttons() {
  return [byId("next"), byId("rest")];
}

async function makeReport() {
  const { assignment } = episode;
  const total = episode.data();
  const entry = await episode.report({ send: false });
  const report = JSON.parse(entry.body);
  const { questions } = explain(deployment, assignment, report.values);
  const [{ factor, oracle }] = questions;
  const { randomizer } = deployment;
  const [asked] = assignment.questions;
  shownReport(report);
  byId("episode").hidden = byId("kept-words").hidden = true;
  const line = decimal(randomizer.shownThreshold(asked));
  say(
    byId("question"),
    `Were you in range for more than ${line} of 24 hours? The number was drawn before the day began, ` +
      "from the number of your policy; both are public.",
  );
  const own = randomizer.held(total, asked);
  const answer = (item, words) => {
    const isReported = report.values.includes(item);
    const style = `${isReported ? "reported" : ""} ${item === own ? "own" : ""}`;
    const sent = isReported ? element("span", { class: "hidden-text" }, " (reported)") : "";
    return element("li", { class: style }, words, sent);
  };
  byId("answers").replaceChildren(answer(1, "yes"), answer(0, "no"));
  const lie = 1 - Number(oracle.threshold) / 2 ** 64;
  say(
    byId("meaning"),
    `The framed answer is sent. Your device lies with a chance of ${percent(lie)}, and only your device ` +
      `knows when. Your ${decimal(total)} hours, the curve and the sliders are not in it.`,
  );
  say(
    byId("odds"),
    `Every day that anybody can have could have produced this report. ${sureInWords(factor)}`,
  );
  say(
    byId("promise"),
    `With ε = ${deployment.epsilon} this holds for every pair of days, whatever else anybody knows of you. ` +
      "It protects the report: who watches the doses of a pump whose policy is known learns of the glucose.",
  );
  byId("doubt").hidden = false;
  byId("send").onclick = () => sendOnce(client, entry);
}

/** A drawing of the day: the range, and glucose in it. */
function curveOf(horizon) {
  const [low, high] = DRAWN;
  const y = (value) => HEIGHT - (HEIGHT * (value - low)) / (high - low);
  const points = [];
  const line = shape("polyline", { class: "day-line" });
  const [bottom, top] = RANGE.map(y);
  const band = { class: "day-range", x: 0, y: top, width: WIDTH, height: bottom - top };
  const mark = (value) => {
    const place = { x: WIDTH - 2, y: y(value) - 3, "text-anchor": "end" };
    return shape("text", place, `${value} mg/dL`);
  };
  const hours = [0, 1, 2, 3, 4].map((part) => {
    const anchor = part === 0 ? "start" : part === 4 ? "end" : "middle";
    const place = { x: (part * WIDTH) / 4, y: HEIGHT + 18, "text-anchor": anchor };
    return shape("text", place, timeAt((part * horizon) / 4));
  });
  const frame = { class: "day", viewBox: `0 0 ${WIDTH} ${HEIGHT + 24}`, role: "img" };
  const marks = RANGE.map(mark);
  const node = shape("svg", frame, shape("rect", band), ...marks, ...hours, line);
  const update = (step, glucose) => {
    points[step] = `${(step * WIDTH) / horizon},${Math.max(0, Math.min(y(glucose), HEIGHT))}`;
    set(line, { points: points.join(" ") });
    set(node, { "aria-label": `Glucose until ${timeAt(step)}: now ${Math.round(glucose)} mg/dL` });
  };
  return { node, update };
}

function timeAt(step) {
  const minutes = 15 * step;
  const hour = (FIRST_HOUR + Math.floor(minutes / 60)) % 24;
  return `${String(hour).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** Run a part of the demo; what fails is said on the page. */
async function attempt(work) {
  byId("trouble").hidden = true;
  try {
    await work();
  } catch (error) {
    say(byId("trouble"), `The demo cannot continue: ${error.message}.`);
    byId("trouble").hidden = false;
  }
}

byId("next").addEventListener("click", () => attempt(() => follow(1)));
byId("rest").addEventListener("click", () => attempt(() => follow(Infinity)));
byId("again").addEventListener("click", () => attempt(begin));
attempt(begin);
