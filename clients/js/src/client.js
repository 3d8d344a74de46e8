// One user's part in a service: fetch a policy, decide locally, send one randomized report, once.

import { readAssignment } from "./assignment.js";
import { digestOf, hex } from "./canonical.js";
import { readDeployment } from "./deployment.js";
import { InputError, ServiceError, record, wholeNumber } from "./errors.js";
import { Ledger } from "./ledger.js";
import { drawAssignment } from "./plan.js";
import { SystemSource, drawNumber } from "./random.js";
import { checkRoom, reportText } from "./report.js";
import { base64, seal } from "./seal.js";
import { BrowserStorage } from "./storage.js";
import { Transport } from "./transport.js";
import { NOTHING, checkReward, checkTrajectory } from "./trajectory.js";

const DIGEST = /^[0-9a-f]{64}$/;
const REPORT_ID_BYTES = 16;
const FINAL_CAUSES = [
  "malformed",
  "too-large",
  "other-deployment",
  "unknown-version",
  "expired-version",
  "wrong-assignment",
  "wrong-alphabet",
];

/** A user of the service at `url`. */
export class Client {
  #deployment = null;
  #turn = Promise.resolve();

  /**
   * `digest`: the deployment that the page was made for; any other is refused.
   * `storage`: where the ledger is kept; the browser's IndexedDB by default.
   * `budget`: the ε that all reports together may cost, or { epsilon, days } for what those of any
   * `days` days may; without it, one for each deployment.
   * `fetch`, `sleep`, `attempts`: how to call the service, and how often before giving up.
   */
  constructor(url, { digest, storage = new BrowserStorage(), budget = null, ...calls } = {}) {
    if (typeof digest !== "string" || !DIGEST.test(digest)) {
      throw new InputError("digest", digest, "the 64 hex digits of a deployment's SHA-256");
    }
    this.digest = digest;
    this.ledger = new Ledger(storage, budget);
    this.transport = new Transport(url, calls);
  }

  /** Return the service's deployment, fetched and checked once. */
  async deployment() {
    if (this.#deployment === null) {
      const document = await fetchDeployment(this.transport);
      // The document itself is hashed: the digest that the service claims is not used.
      const digest = await digestOf(document);
      if (digest !== this.digest) {
        const expected = `${this.digest}, which this page was made for`;
        throw new InputError("deployment digest", digest, expected);
      }
      this.#deployment = await readDeployment(document);
    }
    return this.#deployment;
  }

  /** Return a fresh assignment, and with it the id that its report will have. */
  async assignment() {
    const deployment = await this.deployment();
    const id = hex(new SystemSource().randomBytes(REPORT_ID_BYTES));
    if (deployment.shuffle !== null) {
      // The user draws: nobody else may know which assignment it is.
      const { answer, digest } = await this.transport.getWithDigest("/v1/policy");
      const drawn = await drawAssignment(answer, deployment, new SystemSource());
      return { id, plan: digest, ...drawn };
    }
    const number = drawNumber(new SystemSource());
    const document = await this.transport.get(`/v1/policy?id=${id}&number=${number}`);
    return { id, ...(await readAssignment(document, deployment, number)) };
  }

  /**
   * Run an episode: `step(state, action, h)` resolves to { reward, next }, or to null if
   * the user stops or does something else, which leaves nothing to report.
   */
  async episode(assignment, start, step) {
    const { states, horizon } = (await this.deployment()).shape;
    const trajectory = { states: [], actions: [], rewards: [] };
    let state = start;
    for (let h = 0; h < horizon; h += 1) {
      wholeNumber("state", state, 0, states - 1);
      const action = assignment.policy[h][state];
      const outcome = await step(state, action, h);
      if (outcome === null || outcome === undefined) return NOTHING;
      trajectory.states.push(state);
      trajectory.actions.push(action);
      trajectory.rewards.push(checkReward("reward", outcome.reward));
      state = outcome.next;
    }
    return trajectory;
  }

  /**
   * Pay for a report of `trajectory`, randomize it once, write it down, and return the ledger's
   * entry. A deployment that has a report gets the same one, unless `again` and the budget allow
   * another. Where anything fails once it is paid for, the report is lost, and never drawn again.
   */
  makeReport(assignment, trajectory, { again = false } = {}) {
    const make = async () => {
      const deployment = await this.deployment();
      checkTrajectory(trajectory, deployment.shape);
      await checkSealing(assignment, deployment);
      const paid = await this.ledger.reserve(deployment, assignment.id, { again });
      if (paid.status !== "drawing") return paid;
      const values = deployment.privatize(trajectory, assignment);
      const text = reportText(assignment, assignment.id, values);
      return this.ledger.complete(assignment.id, await bodyOf(text, assignment, deployment));
    };
    // Calls take turns: one does not find the report of another half made.
    const made = this.#turn.then(() => this.ledger.alone(make));
    this.#turn = made.catch(() => {});
    return made;
  }

  /** Send a report that is not settled yet; the same bytes under the same id, however often. */
  async send(entry) {
    if (entry.status !== "pending") return entry;
    let answer;
    try {
      answer = await this.transport.post("/v1/reports", entry.body);
    } catch (error) {
      if (!FINAL_CAUSES.includes(error.reason)) throw error;
      return this.ledger.settle(entry, "refused", error.reason);
    }
    const { shuffle } = await this.deployment();
    if (shuffle !== null && answer?.status === "accepted") {
      return this.ledger.settle(entry, answer.status);
    }
    if (answer?.id !== entry.id || !["counted", "duplicate"].includes(answer.status)) {
      throw new ServiceError("/v1/reports: the report was not acknowledged", { later: true });
    }
    return this.ledger.settle(entry, answer.status);
  }

  /** Send what an earlier visit could not, and return the settled entries. */
  async resume() {
    const { digest } = await this.deployment();
    const entries = (await this.ledger.entries()).filter((entry) => entry.deployment === digest);
    const settled = [];
    for (const entry of entries.filter(({ status }) => status === "pending")) {
      settled.push(await this.send(entry));
    }
    return settled;
  }

  /**
   * Do all of it: an episode from the state `start`, its report, and sending it. Whoever stops, and
   * even a `step` that fails, still reports, so that taking part says nothing.
   */
  async participate(start, step, { again = false } = {}) {
    const deployment = await this.deployment();
    await this.resume();
    const before = await this.ledger.before(deployment, { again });
    if (before !== null) return before;
    const assignment = await this.assignment();
    let trajectory = NOTHING;
    let failure = null;
    try {
      trajectory = await this.episode(assignment, start, step);
    } catch (error) {
      failure = error;
    }
    const entry = await this.send(await this.makeReport(assignment, trajectory, { again }));
    if (failure !== null) throw failure;
    return entry;
  }
}

/** Return what is posted: the report itself, or sealed for the service where there is a relay. */
async function bodyOf(text, { version, reportBytes, plan }, { digest, shuffle }) {
  if (shuffle === null) return text;
  const sealed = base64(await seal(text, reportBytes, shuffle.key, digest, version, plan));
  return JSON.stringify({ deployment: digest, version, sealed });
}

/** Refuse now what would fail once a report is drawn: its size, the key, a browser without X25519. */
async function checkSealing(assignment, deployment) {
  if (deployment.shuffle === null) return;
  checkRoom(assignment, assignment.reportBytes, deployment);
  await bodyOf("", assignment, deployment);
}

/** Return the digest of whatever deployment the service at `url` has now, trusted or not. */
export async function servedDigest(url, calls = {}) {
  return digestOf(await fetchDeployment(new Transport(url, calls)));
}

async function fetchDeployment(transport) {
  return record("response", await transport.get("/v1/deployment")).deployment;
}
