// The problem of finitely many states, whose policies are tables, and the law of random tables: table i
// is a function of a public seed and i, the same in every language.

import { checkAdmissible, readAdmissible } from "./admissible.js";
import { InputError, record, wholeNumber } from "./errors.js";
import { byState, readPartition } from "./questions/partition.js";
import { MOST_POLICIES } from "./random.js";
import { TrajectoryRecord } from "./records.js";
import { checkTrajectory } from "./trajectory.js";

// What a page builds from a document that anybody may have written: the bounds of Python's client.
const MOST_EACH = 10_000;
const MOST_CELLS = 1_000_000;
const MOST_COUNTERS = 1_000_000;
const FIELDS = ["seed", "weights", "where"];
const WHOLE = 2 ** 32;
const SEED = /^[0-9a-f]{32}$/;
const WORDS_IN_BLOCK = 8;

/** How many states, actions and steps there are, and which actions a policy may take in a state. */
export class Tables {
  /** What labels name one by one. */
  labelled = ["states", "actions"];

  constructor({ shape, structure }, counting) {
    this.shape = readShape(shape, counting);
    this.horizon = this.shape.horizon;
    this.admissible = readAdmissible(structure, this.shape);
  }

  /** Read a table, or refuse it. One that was drawn may be one row for all steps. */
  readPolicy(policy, { drawn = false } = {}) {
    const { states, actions, horizon } = this.shape;
    const isOneRow = drawn && Array.isArray(policy) && policy.length === 1;
    const table = isOneRow ? new Array(horizon).fill(policy[0]) : policy;
    const isAction = (cell) => Number.isInteger(cell) && cell >= 0 && cell < actions;
    const isRow = (row) => Array.isArray(row) && row.length === states && row.every(isAction);
    if (!Array.isArray(table) || table.length !== horizon || !table.every(isRow)) {
      const expected = `${horizon} lists of ${states} actions from 0 to ${actions - 1}`;
      throw new InputError("policy", policy, expected);
    }
    checkAdmissible("policy", this.admissible, table, (row, state) => [row[state]]);
    return table;
  }

  /** Read a law of tables, or refuse it. */
  readLaw(document) {
    const law = new TableDistribution(document, this.shape);
    // Not the drawn table alone: what is refused does not depend on chance.
    const drawable = (row) => row.flatMap((weight, action) => (weight > 0 ? [action] : []));
    checkAdmissible("law.weights", this.admissible, law.weights, (part, state) =>
      drawable(part[law.cells.cell[state]]),
    );
    return law;
  }

  /** Return the action of a table. */
  act(table, state, step) {
    return table[step][this.checkState("state", state)];
  }

  /** Return the number of a state, or refuse it. */
  checkState(field, state) {
    return wholeNumber(field, state, 0, this.shape.states - 1);
  }

  /** Refuse what no user can report about. */
  checkData(trajectory) {
    checkTrajectory(trajectory, this.shape);
  }

  /** Return an episode so far: a new one, or what an earlier visit kept. */
  record(kept) {
    return new TrajectoryRecord(this, kept);
  }
}

/** A law of tables: rows of `weights` are whole numbers that sum to 2³². */
export class TableDistribution {
  constructor(document, { states, actions, horizon }) {
    const { seed, weights, where } = record("law", document);
    if (!Object.keys(document).every((key) => FIELDS.includes(key))) {
      throw new InputError("law", document, `an object of ${FIELDS.join(", ")}`);
    }
    if (typeof seed !== "string" || !SEED.test(seed)) {
      throw new InputError("law.seed", seed, "32 hexadecimal digits in lower case");
    }
    const cells = where === undefined ? byState(states) : readPartition("law.where", where, states);
    const isRow = (row) =>
      Array.isArray(row) &&
      row.length === actions &&
      row.every((weight) => Number.isInteger(weight) && weight >= 0 && weight <= WHOLE) &&
      row.reduce((total, weight) => total + weight, 0) === WHOLE;
    const isStep = (step) =>
      Array.isArray(step) && step.length === cells.count && step.every(isRow);
    const steps = Array.isArray(weights) ? weights.length : 0;
    if (steps < 1 || steps > horizon || !weights.every(isStep)) {
      const expected = `1 to ${horizon} × ${cells.count} × ${actions} numbers, rows that sum to 2³²`;
      throw new InputError("law.weights", weights, expected);
    }
    Object.assign(this, { seed, weights, cells, horizon });
  }

  /** Return table `number`: actions, `table[step][state]`. */
  async policy(number) {
    const { seed, weights, cells, horizon } = this;
    wholeNumber("number", number, 0, MOST_POLICIES - 1);
    const rows = weights.flat();
    const words = await wordsOf(seed, number, rows.length);
    const actions = rows.map((row, place) => {
      let cumulated = 0;
      return row.findIndex((weight) => {
        cumulated += weight;
        return words[place] < cumulated;
      });
    });
    return Array.from({ length: horizon }, (_, step) => {
      // The last steps have actions of their own, all steps before them share the first.
      const start = Math.max(step - (horizon - weights.length), 0) * cells.count;
      return cells.cell.map((cell) => actions[start + cell]);
    });
  }
}

/** SHA-256 in counter mode: block j is the digest of seed, number (8 bytes) and j (4 bytes). */
async function wordsOf(seed, number, count) {
  const message = new DataView(new ArrayBuffer(28));
  seed.match(/../g).forEach((pair, place) => message.setUint8(place, Number.parseInt(pair, 16)));
  message.setBigUint64(16, BigInt(number));
  const blocks = [];
  for (let block = 0; block * WORDS_IN_BLOCK < count; block += 1) {
    message.setUint32(24, block);
    blocks.push(crypto.subtle.digest("SHA-256", message.buffer.slice(0)));
  }
  const digests = await Promise.all(blocks);
  const view = digests.map((digest) => new DataView(digest));
  return Array.from({ length: count }, (_, place) =>
    view[Math.floor(place / WORDS_IN_BLOCK)].getUint32(4 * (place % WORDS_IN_BLOCK)),
  );
}

function readShape(shape, counting) {
  record("shape", shape);
  const size = (field) => wholeNumber(`shape.${field}`, shape[field], 1, MOST_EACH);
  if (typeof shape.step_dependent !== "boolean") {
    throw new InputError("shape.step_dependent", shape.step_dependent, "true or false");
  }
  const [states, actions, horizon] = ["states", "actions", "horizon"].map(size);
  wholeNumber("shape.horizon × states", horizon * states, 1, MOST_CELLS);
  const models = shape.step_dependent ? horizon : 1;
  if (counting) {
    wholeNumber("shape.counters", models * states * actions * (states + 2), 1, MOST_COUNTERS);
  }
  return { states, actions, horizon, stepDependent: shape.step_dependent };
}
