// A running service's frozen parameters, and the digest by which a client knows them again.

import "./bits-and-moves.js";
import { digestOf } from "./canonical.js";
import "./counters.js";
import { InputError, record } from "./errors.js";
import { atMost, ceiling, decimal, times } from "./numbers.js";
import { SystemSource } from "./random.js";
import { mechanismOf } from "./mechanisms.js";
import { readProblem } from "./policies/index.js";
import "./return-bits.js";
import { readShuffle } from "./shuffle.js";
import "./subset.js";
import { Tables } from "./tables.js";
import "./threshold-bits.js";

const FORMAT = 2;
// Hours that a report has to arrive in, at least: a device may be off until the next day.
const DELIVERY = 24n;
const LONGEST_STEP = { top: 24n * 366n, bottom: 1n };

/** What a client trusts a service with: read by `readDeployment` alone. */
class Deployment {
  constructor(document, digest) {
    this.document = document;
    this.digest = digest;
    this.name = document.name;
    const Mechanism = mechanismOf(document.mechanism);
    this.problem = readProblemOf(document, Mechanism);
    this.shape = this.problem.shape ?? null;
    checkWindow(document, this.problem.horizon);
    this.mechanism = document.mechanism;
    this.epsilon = document.epsilon;
    this.labels = readLabels(document.labels, this.problem);
    const epsilon = decimal("epsilon", this.epsilon);
    if (epsilon.top === 0n) throw new InputError("epsilon", this.epsilon, "a number > 0");
    const randomizer = record("randomizer", document.randomizer);
    this.randomizer = new Mechanism(this.shape ?? this.problem, epsilon, randomizer);
    this.shuffle = readShuffle(document.shuffle, this.randomizer, Number(this.epsilon));
  }

  /** Return the values to send for a user with this `data` who received `assignment`. */
  privatize(data, assignment, source = new SystemSource()) {
    this.problem.checkData(data);
    return this.randomizer.privatize(data, assignment, source);
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

/** Read the table `policy`, or the sizes of tables in its place. */
function readProblemOf(document, Mechanism) {
  const hasVectors = document.policy !== undefined;
  if (hasVectors !== (Mechanism.forVectors === true)) {
    const expected = hasVectors ? "one for policies with parameters" : "one for tables";
    throw new InputError("mechanism", document.mechanism, expected);
  }
  if (hasVectors) return readProblem(document.policy);
  return new Tables(document, Mechanism.reportsCounters === true);
}

/** Refuse a window that ends before honest reports arrive, where steps say how long they take. */
function checkWindow({ step_hours: step, report_window_hours: window }, horizon) {
  if (step === undefined) return;
  const hours = decimal("step_hours", step);
  if (hours.top === 0n || !atMost(hours, LONGEST_STEP)) {
    throw new InputError("step_hours", step, "hours > 0, a year at most");
  }
  const least = ceiling(times(hours, horizon)) + DELIVERY;
  if (!Number.isSafeInteger(window) || BigInt(window) < least) {
    const sum = `${horizon} steps of ${step} h, and a report has ${DELIVERY} h to arrive`;
    throw new InputError("report_window_hours", window, `at least ${least}: ${sum}`);
  }
}

function readLabels(labels, problem) {
  record("labels", labels);
  for (const field of problem.labelled) {
    if (!Array.isArray(labels[field]) || labels[field].length !== problem.shape[field]) {
      throw new InputError(`labels.${field}`, labels[field], `${problem.shape[field]} labels`);
    }
  }
  return labels;
}
