// The estimated model with its uncertainty, what noise does to it, and what hostile users could.

import { clamp, element, say, set, shape, strip } from "./dom.js";
import { actionClass } from "./policy.js";
import { stateChooser } from "./states.js";
import { count, decimal } from "./words.js";

/** Cells on a page: as many as anybody looks through. */
const MOST_CELLS = matchMedia("(max-width: 40rem)").matches ? 12 : 24;

/** Rewards and transitions of every state and action; `update(data, hostile share)`. */
export function modelView({ states, actions, horizon, step_dependent: each }) {
  let latest = null;
  const size = Math.max(2, Math.floor(MOST_CELLS / actions.length));
  const chooser = stateChooser(states, size, () => build());
  const steps = Array.from({ length: horizon }, (_, h) =>
    element("option", { value: h }, `Step ${h + 1}`),
  );
  const step = element("select", { id: "model-step", change: () => redraw() }, ...steps);
  const choice = element("p", {}, element("label", { for: "model-step" }, "Model of "), step);
  choice.hidden = !each;
  const place = element("div", { class: "cells" });
  let cells = [];
  function build() {
    const groups = chooser.shown().map((s) => ({
      label: states[s],
      cells: actions.map((label, a) => ({ s, a, cell: modelCell(states, label, a) })),
    }));
    cells = groups.flatMap((group) => group.cells);
    const nodes = groups.map((group) =>
      element("div", {}, element("h3", {}, group.label), ...group.cells.map(({ cell }) => cell.node)),
    );
    place.replaceChildren(...nodes);
    redraw();
  }
  function redraw() {
    if (latest === null) return;
    const model = each ? step.selectedIndex : 0;
    for (const { s, a, cell } of cells) cell.update(latest.data, latest.hostile, model, s, a);
  }
  build();
  const update = (data, hostile) => {
    latest = { data, hostile };
    redraw();
  };
  return { node: element("div", {}, choice, chooser.node, place), update };
}

function modelCell(states, label, action) {
  const number = element("span", { class: "number" });
  const noise = element("span", { class: "soft" });
  const reward = estimateBar();
  let moves = [];
  let redraw = () => {};
  // Made when they are first looked at: there are as many as states.
  const open = () => {
    if (!leads.open || moves.length > 0) return;
    moves = states.map((name) => moveRow(name));
    leads.append(...moves.map((move) => move.node));
    redraw();
  };
  const summary = element("summary", {}, "Where it leads");
  const leads = element("details", { class: "moves", toggle: open }, summary);
  const node = element(
    "div",
    { class: `cell ${actionClass(action)}` },
    element("div", { class: "row" }, element("span", {}, label), number),
    reward.node,
    noise,
    leads,
  );
  const update = ({ rewards, transitions, influence }, hostile, model, s, a) => {
    const [mean, error] = [rewards.mean[model][s][a], rewards.error[model][s][a]];
    say(number, `${decimal(mean)} ± ${decimal(error)}`);
    reward.update(mean, error, hostile * (influence.rewards[model][s][a] ?? 0));
    say(noise, noiseInWords(rewards.noise[model][s][a], rewards.visits[model][s][a]));
    leads.hidden = model >= transitions.mean.length;
    if (leads.hidden) return;
    const shift = hostile * (influence.transitions[model][s][a] ?? 0);
    redraw = () =>
      moves.forEach((move, t) =>
        move.update(transitions.mean[model][s][a][t], transitions.error[model][s][a][t], shift),
      );
    redraw();
  };
  return { node, update };
}

function moveRow(name) {
  const number = element("span", { class: "number" });
  const bar = estimateBar();
  const words = element("div", { class: "pair soft" }, element("span", {}, name), number);
  const node = element("div", {}, words, bar.node);
  const update = (mean, error, shift) => {
    say(number, `${decimal(mean)} ± ${decimal(error)}`);
    bar.update(mean, error, shift);
  };
  return { node, update };
}

function noiseInWords(noise, visits) {
  if (noise === null) return "nothing known yet";
  const ratio = noise >= 10 ? "over 10" : decimal(noise);
  return `noise ÷ signal ${ratio}, ≈ ${count(visits)} visits`;
}

/** A bar from 0 to 1 with its ± and, behind it, how far hostile users could shift it. */
function estimateBar() {
  const fill = shape("rect", { class: "fill", y: 2, height: 6, x: 0 });
  const danger = shape("rect", { class: "hostile", y: 0, height: 10 });
  const error = shape("line", { class: "error", y1: 5, y2: 5 });
  const ends = [0, 1].map(() => shape("line", { class: "error", y1: 1, y2: 9 }));
  const track = shape("rect", { class: "track", y: 2, height: 6, width: 100 });
  const node = strip("range", track, fill, danger, error, ...ends);
  const update = (mean, spread, shift) => {
    const [low, high] = [100 * clamp(mean - spread), 100 * clamp(mean + spread)];
    const [least, most] = [100 * clamp(mean - shift), 100 * clamp(mean + shift)];
    set(fill, { width: 100 * mean });
    set(danger, { x: least, width: most - least });
    set(error, { x1: low, x2: high });
    [low, high].forEach((x, i) => set(ends[i], { x1: x, x2: x }));
  };
  return { node, update };
}
