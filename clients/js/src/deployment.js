// A running service's frozen parameters, and the digest by which a client knows them again.

import { readAdmissible } from "./admissible.js";
import "./bits-and-moves.js";
import { digestOf } from "./canonical.js";
import "./counters.js";
import { InputError, record, wholeNumber } from "./errors.js";
import { decimal } from "./numbers.js";
import { SystemSource } from "./random.js";
import { mechanismOf } from "./mechanisms.js";
import "./return-bits.js";
import { readShuffle } from "./shuffle.js";
import "./subset.js";
import { checkTrajectory } from "./trajectory.js";

const FORMAT = 2;
// What a page builds from a document that anybody may have written: the bounds of Python's client.
const MOST_EACH = 10_000;
const MOST_CELLS = 1_000_000;
const MOST_COUNTERS = 1_000_000;

/** What a client trusts a service with: read by `readDeployment` alone. */
class Deployment {
  constructor(document, digest) {
    this.document = document;
    this.digest = digest;
    this.name = document.name;
    const Mechanism = mechanismOf(document.mechanism);
    this.shape = readShape(document.shape, Mechanism.reportsCounters === true);
    this.mechanism = document.mechanism;
    this.epsilon = document.epsilon;
    this.labels = readLabels(document.labels, this.shape);
    this.admissible = readAdmissible(document.structure, this.shape);
    const epsilon = decimal("epsilon", this.epsilon);
    if (epsilon.top === 0n) throw new InputError("epsilon", this.epsilon, "a number > 0");
    const randomizer = record("randomizer", document.randomizer);
    this.randomizer = new Mechanism(this.shape, epsilon, randomizer);
    this.shuffle = readShuffle(document.shuffle, this.randomizer, Number(this.epsilon));
  }

  /** Return the values to send for a user with this `trajectory` who received `assignment`. */
  privatize(trajectory, assignment, source = new SystemSource()) {
    checkTrajectory(trajectory, this.shape);
    return this.randomizer.privatize(trajectory, assignment, source);
  }
}

/**
 * Read a deployment's document. Refused: another format, a mechanism that this client does not
 * have, and integers that are less private than ε. Compare the
 * digest to know whether it is the expected deployment.
 */
export async function readDeployment(document) {
  if (record("deployment", document).format !== FORMAT) {
    const expected = `${FORMAT}, the only one that this client speaks`;
    throw new InputError("deployment.format", document.format, expected);
  }
  return new Deployment(document, await digestOf(document));
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

function readLabels(labels, shape) {
  record("labels", labels);
  for (const field of ["states", "actions"]) {
    if (!Array.isArray(labels[field]) || labels[field].length !== shape[field]) {
      throw new InputError(`labels.${field}`, labels[field], `${shape[field]} labels`);
    }
  }
  return labels;
}
