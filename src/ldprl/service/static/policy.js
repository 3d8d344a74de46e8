// The policy by state and step: the best known action, its certainty, and the share of users it is
// recommended to.

import { element, say, set, shape, strip } from "./dom.js";
import { percent } from "./words.js";

const COLOURS = 8;
const SURE = 0.95;

/** The class that gives an action its colour. */
export function actionClass(action) {
  return `action-${action % COLOURS}`;
}

/** A table with a row for each state and a column for each step. */
export function policyView({ states, actions, horizon }) {
  const steps = Array.from({ length: horizon }, (_, h) => h);
  const cells = steps.map((h) => states.map(() => policyCell(actions, h)));
  const head = element("tr", {}, element("td"), ...steps.map(stepHead));
  // A phone shows the rows as blocks; the roles keep it a table for those who listen.
  const rows = states.map((label, s) =>
    element(
      "tr",
      { role: "row" },
      element("th", { scope: "row", role: "rowheader" }, label),
      ...steps.map((h) => cells[h][s].node),
    ),
  );
  const caption = element("caption", { class: "hidden-text" }, "Best action by state and step");
  const table = element(
    "table",
    { class: "policy", role: "table" },
    caption,
    element("thead", { role: "rowgroup" }, head),
    element("tbody", { role: "rowgroup" }, ...rows),
  );
  const legend = actions.map((label, a) => element("li", { class: actionClass(a) }, label));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Policy table" };
  const node = element(
    "div",
    {},
    element("ul", { class: "legend" }, ...legend),
    element("div", region, table),
  );
  const update = ({ best, sureness, policy }) =>
    steps.forEach((h) =>
      states.forEach((_, s) => {
        const sure = sureness === null ? null : sureness[h][s];
        cells[h][s].update(best[h][s], sure, policy[h][s]);
      }),
    );
  return { node, update };
}

function stepHead(step) {
  return element("th", { scope: "col" }, `Step ${step + 1}`);
}

function policyCell(actions, step) {
  const choice = element("span", { class: "choice" });
  const sure = element("span", { class: "soft" });
  const parts = actions.map((_, a) =>
    shape("rect", { class: actionClass(a), height: 10, y: 0, x: 0, width: 0 }),
  );
  const place = { role: "cell", "data-step": `Step ${step + 1}` };
  const node = element("td", place, choice, sure, strip("shares", ...parts));
  const update = (best, sureness, shares) => {
    const settled = sureness === null ? shares[best] : sureness;
    node.className = `${actionClass(best)}${settled < SURE ? " unsure" : ""}`;
    say(choice, actions[best]);
    // A hundred draws cannot distinguish 100% from slightly less.
    const drawn = `${percent(Math.min(Math.max(settled, 0.001), 0.999))} sure`;
    say(sure, sureness === null ? `${percent(shares[best])} get this advice` : drawn);
    const advised = shares.map((share, a) => `${actions[a]} to ${percent(share)}`);
    node.title = `Recommended now: ${advised.filter((_, a) => shares[a] > 0).join(", ")}`;
    let x = 0;
    shares.forEach((share, a) => {
      set(parts[a], { x: 100 * x, width: 100 * share });
      x += share;
    });
  };
  return { node, update };
}
