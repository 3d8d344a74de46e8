// The invented world of the visitor. It runs on the page; no server takes part.

const WORDS = 2 ** 32;

/** Fetch the world of the demo. */
export async function fetchWorld() {
  const response = await fetch("/static/demo/world.json");
  if (!response.ok) throw new Error(`the demo world is missing (${response.status})`);
  return response.json();
}

/** Whether the world is the one that a deployment is about. */
export function fits({ horizon, transitions }, { shape }) {
  return (
    horizon === shape.horizon &&
    transitions.length === shape.states &&
    transitions[0].length === shape.actions &&
    !shape.stepDependent
  );
}

/** Draw where an episode starts. */
export function start({ initial }) {
  return draw(initial);
}

/** Draw what an action leads to. */
export function step({ rewards, transitions }, state, action) {
  const gained = uniform() < rewards[state][action];
  return { reward: gained ? 1 : 0, next: draw(transitions[state][action]) };
}

function draw(chances) {
  let left = uniform();
  const found = chances.findIndex((chance) => (left -= chance) < 0);
  return found === -1 ? chances.findLastIndex((chance) => chance > 0) : found;
}

function uniform() {
  return crypto.getRandomValues(new Uint32Array(1))[0] / WORDS;
}
