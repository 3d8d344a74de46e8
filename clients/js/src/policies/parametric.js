// Problems whose policies are functions of what a user sees and of d parameters.

import { InputError, record, wholeNumber } from "../errors.js";
import { readActions } from "./actions.js";
import { ReturnRecord } from "../records.js";
import { Features } from "./features.js";
import { Perturbed } from "./perturbed.js";
import { MOST_PARAMETERS, decimalNumber, fromBase64, table } from "./written.js";

const KEYS = ["kind", "features", "actions", "horizon", "returns", "spread", "start"];
const LONGEST_EPISODE = 10 ** 9;
const KINDS = new Map();

/**
 * Make a kind of policy known: a subclass of `Parametric` with the getter `size`, the number of
 * parameters, and `outputs(parameters, inputs)`.
 */
export function definePolicy(kind, Problem) {
  if (KINDS.has(kind)) throw new InputError("policy.kind", kind, "one that is not taken");
  KINDS.set(kind, Problem);
}

/** Read `policy` of a deployment's document, or refuse it; bounds come first. */
export function readProblem(document) {
  const { kind } = record("policy", document);
  if (!KINDS.has(kind)) {
    throw new InputError("policy.kind", kind, `one of ${[...KINDS.keys()].join(", ")}`);
  }
  return new (KINDS.get(kind))(document);
}

/** What users see and do, for how long, and which policies they may be given. */
export class Parametric {
  /** What a kind states beside what all do. */
  static options = [];
  /** What labels name one by one: names are in the problem itself. */
  labelled = [];

  constructor(document) {
    table("policy", document, [...KEYS, ...new.target.options]);
    this.readOptions(document);
    this.features = new Features(document.features);
    this.actions = readActions(document.actions);
    this.horizon = wholeNumber("horizon", document.horizon, 1, LONGEST_EPISODE);
    this.returns = readRange(document.returns);
    this.spread = decimalNumber("spread", document.spread ?? "1", { positive: true });
    wholeNumber("policy.size", this.size, 1, MOST_PARAMETERS);
    const { start } = document;
    this.start = start === undefined ? new Float64Array(this.size) : fromBase64("start", start, this.size);
  }

  /** Keep what this kind's document states; called before anything else is read. */
  readOptions() {}

  /** Read the parameters of one policy, or refuse them. */
  readPolicy(document) {
    const { parameters } = table("policy", document, ["parameters"]);
    return fromBase64("policy.parameters", parameters, this.size);
  }

  /** Read a law of shifted parameters, or refuse it. */
  readLaw(document) {
    return new Perturbed(document, this);
  }

  /** Return the action of a policy for what a user sees: a number, or numbers for levels. */
  act(parameters, observation) {
    return this.actions.choose(this.outputs(parameters, this.features.inputs(observation)));
  }

  /** Refuse what no user can report about: a return is a number, and null of a user who left. */
  checkData(total) {
    if (total !== null && !Number.isFinite(total)) {
      throw new InputError("total", total, "a finite number, or null");
    }
  }

  /** Return an episode so far: a new one, or what an earlier visit kept. */
  record(kept) {
    return new ReturnRecord(this, kept);
  }
}

function readRange(returns) {
  if (!Array.isArray(returns) || returns.length !== 2) {
    throw new InputError("returns", returns, "the least and the largest return");
  }
  const [low, high] = returns.map((value) => decimalNumber("returns", value));
  if (low >= high) throw new InputError("returns", returns, "the least return below the largest");
  return [low, high];
}
