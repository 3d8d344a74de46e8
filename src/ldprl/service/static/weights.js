// A policy on vectors: its weights by the names of features, and what it tells some people.

import { element, say, shape, strip } from "./dom.js";
import { count, decimal, percent, toError } from "./words.js";

/** The policy that would be handed over; `update(data)`. */
export function weightsView() {
  const place = element("div");
  let drawn = null;
  const update = ({ policy, users }) => {
    const written = JSON.stringify(policy);
    if (written === drawn) return;
    drawn = written;
    const { weights, parameters, spread } = policy;
    const what = weights === null ? `${count(parameters)} parameters, which are no weights of features. ` : "";
    const before = users === 0 ? "Before the first report it is what all started from. " : "";
    place.replaceChildren(
      element(
        "p",
        { class: "soft" },
        `${before}${what}Users run variations of it, spread by ${percent(spread)} of what is allowed.`,
      ),
      examplesTable(policy),
      ...(weights === null ? [] : [weightsTable(weights)]),
    );
  };
  return { node: place, update };
}

function examplesTable({ examples, actions }) {
  // Levels differ from user to user, if only by a step of their grid: nobody is told the same.
  const isChoice = Array.isArray(actions);
  const alone = isChoice || actions.levels.length > 1 ? null : actions.levels[0].name;
  const short = (told) => (alone === null ? told : told.replace(`${alone} `, ""));
  const told = alone === null ? "is told" : `is told: ${alone}`;
  const heads = ["Someone with", told, "at the start", ...(isChoice ? ["told the same now"] : [])];
  const rows = examples.map((example) => {
    const cells = [short(example.told), short(example.start), `${percent(example.share)} of users`];
    const shown = cells.slice(0, heads.length - 1).map((words, i) => cell(heads[i + 1], words));
    const head = element("th", { scope: "row", role: "rowheader" }, example.words);
    return element("tr", { role: "row" }, head, ...shown);
  });
  return listed("Whom it tells what", heads, rows, "examples");
}

function weightsTable({ inputs, outputs, values }) {
  const most = Math.max(...values.flat().map(Math.abs)) || 1;
  const rows = inputs.map((input, i) =>
    element(
      "tr",
      { role: "row" },
      element("th", { scope: "row", role: "rowheader" }, input),
      ...values[i].map((weight, output) => {
        const td = cell(outputs[output], decimal(weight));
        td.append(signedBar(weight / most));
        return td;
      }),
    ),
  );
  return listed("Weights, per scale of a feature", ["Feature", ...outputs], rows, "weights");
}

function listed(name, heads, rows, kind) {
  const head = element("tr", {}, ...heads.map((words) => element("th", { scope: "col" }, words)));
  const table = element(
    "table",
    { class: `listed ${kind}`, role: "table" },
    element("thead", { role: "rowgroup" }, head),
    element("tbody", { role: "rowgroup" }, ...rows),
  );
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": name };
  return element("div", {}, element("h3", {}, name), element("div", region, table));
}

/** A cell that says what it is where the head of its column is not shown. */
function cell(name, words) {
  return element("td", { role: "cell", "data-name": name }, words);
}

/** A bar to the right of the middle for a positive number, to the left for a negative one. */
function signedBar(share) {
  const width = 50 * Math.abs(share);
  const x = share < 0 ? 50 - width : 50;
  const sign = share < 0 ? "negative" : "positive";
  const middle = shape("rect", { class: "middle", x: 49.8, width: 0.4, height: 10 });
  return strip("signed", shape("rect", { class: sign, x, width, y: 2, height: 6 }), middle);
}

/** Show what users earn, by bits of the return. */
export function showEarned({ value, error, start_value: first }, reward, figure, words) {
  if (value === null) {
    say(figure, "–");
    say(words, "Nothing is known before the first reports.");
    return;
  }
  const [now, about, before] = toError(error, value, error, first);
  say(figure, `${now} ± ${about}`);
  say(words, `${reward}, a user on average, ± one standard error. The first ones earned ${before}.`);
}
