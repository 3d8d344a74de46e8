// The policy by state and step: the best known action, its certainty, and the share of users it is
// recommended to. Steps that follow each other and agree are shown as one.

import { element, shape, strip } from "./dom.js";
import { stateChooser } from "./states.js";
import { percent } from "./words.js";

const COLOURS = 8;
const SURE = 0.95;
/** Cells on a page: as many as anybody looks through. */
const MOST_CELLS = 96;

/** The class that gives an action its colour. */
export function actionClass(action) {
  return `action-${action % COLOURS}`;
}

/** A table with a row for each state and a column for each step. */
export function policyView({ states, actions, horizon }) {
  let latest = null;
  let drawn = null;
  const chooser = stateChooser(states, Math.max(4, Math.floor(MOST_CELLS / horizon)), () => {
    draw();
  });
  const heads = Array.from({ length: horizon }, (_, h) =>
    element("th", { scope: "col" }, `Step ${h + 1}`),
  );
  const body = element("tbody", { role: "rowgroup" });
  // A phone shows the rows as blocks; the roles keep it a table for those who listen.
  const table = element(
    "table",
    { class: "policy", role: "table" },
    element("caption", { class: "hidden-text" }, "Best action by state and step"),
    element("thead", { role: "rowgroup" }, element("tr", {}, element("td"), ...heads)),
    body,
  );
  const legend = actions.map((label, a) => element("li", { class: actionClass(a) }, label));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Policy table" };
  const node = element(
    "div",
    {},
    element("ul", { class: "legend" }, ...legend),
    chooser.node,
    element("div", region, table),
  );
  function draw() {
    const shown = chooser.shown();
    const rows = shown.map((s) => ({ label: states[s], runs: runsOf(latest, s) }));
    // What has not changed is left alone: somebody may have selected or reached it.
    const written = JSON.stringify(rows);
    if (written === drawn) return;
    drawn = written;
    body.replaceChildren(...rows.map((row) => policyRow(row, actions)));
  }
  const update = ({ best, sureness, policy }) => {
    latest = { best, sureness, policy };
    draw();
  };
  return { node, update };
}

/** Return the steps of a state in runs of the same action that are settled alike. */
function runsOf({ best, sureness, policy }, state) {
  const runs = [];
  best.forEach((row, h) => {
    const action = row[state];
    const shares = policy[h][state];
    const sure = sureness === null ? null : sureness[h][state];
    const isSettled = (sure ?? shares[action]) >= SURE;
    const last = runs.at(-1);
    if (last?.action === action && last.isSettled === isSettled) {
      last.to = h;
      last.shares = last.shares.map((share, a) => share + shares[a]);
      last.sure = sure === null ? null : Math.min(last.sure, sure);
    } else {
      runs.push({ from: h, to: h, action, isSettled, sure, shares: [...shares] });
    }
  });
  return runs.map(({ shares, ...run }) => {
    const steps = run.to - run.from + 1;
    return { ...run, shares: shares.map((share) => share / steps) };
  });
}

function policyRow({ label, runs }, actions) {
  const head = element("th", { scope: "row", role: "rowheader" }, label);
  return element("tr", { role: "row" }, head, ...runs.map((run) => policyCell(run, actions)));
}

function policyCell({ from, to, action, isSettled, sure, shares }, actions) {
  const steps = from === to ? `Step ${from + 1}` : `Steps ${from + 1}–${to + 1}`;
  // A hundred draws cannot distinguish 100% from slightly less.
  const drawn = `${percent(Math.min(Math.max(sure, 0.001), 0.999))} sure`;
  const advised = shares.flatMap((share, a) =>
    share > 0 ? [`${actions[a]} to ${percent(share)}`] : [],
  );
  let x = 0;
  const parts = shares.map((share, a) => {
    const part = { class: actionClass(a), height: 10, y: 0, x: 100 * x, width: 100 * share };
    x += share;
    return shape("rect", part);
  });
  const least = from === to ? "" : "at least ";
  return element(
    "td",
    {
      role: "cell",
      class: `${actionClass(action)}${isSettled ? "" : " unsure"}`,
      colspan: to - from + 1,
      "data-steps": steps,
      title: `${steps}: recommended now: ${advised.join(", ")}`,
    },
    element("span", { class: "choice" }, actions[action]),
    element(
      "span",
      { class: "soft" },
      sure === null ? `${percent(shares[action])} get this advice` : `${least}${drawn}`,
    ),
    strip("shares", ...parts),
  );
}
