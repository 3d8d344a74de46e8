// One user's part in a service: fetch a policy, decide locally, send one randomized report, once.

import { readAssignment } from "./assignment.js";
import { digestOf, hex } from "./canonical.js";
import { readDeployment } from "./deployment.js";
import { Episode, play } from "./episode.js";
import { InputError, OvertakenError, ServiceError, record } from "./errors.js";
import { Ledger } from "./ledger.js";
import { drawAssignment } from "./plan.js";
import { SystemSource, drawNumber } from "./random.js";
import { checkRoom, reportText } from "./report.js";
import { base64, seal } from "./seal.js";
import { BrowserStorage } from "./storage.js";
import { Transport } from "./transport.js";

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
  #episode = null;
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

  /**
   * Pay for a report, fetch the policy, and return the episode to play: the unfinished one of an
   * earlier visit, if there is one. A deployment that has a report gets a finished episode, whose report
   * can only be sent, unless `again` and the budget allow another.
   *
   * `due`: a Date before which the report is not sent. Where the length of an episode says something,
   * fix it here: the report is then sent by the first `resume` after it, whenever the episode ended.
   */
  async begin({ again = false, due = null } = {}) {
    const until = secondsOf(due);
    // Calls take turns: two of them are in one episode.
    const begun = this.#turn.then(async () => {
      const deployment = await this.deployment();
      const known = await this.ledger.before(deployment, { again });
      const entry = known ?? (await this.#paid(deployment, again, until));
      const { id, episode } = this.#episode?.entry ?? {};
      // Another tab may have gone on with it, or may have reported.
      const isSame = entry.status === "begun" && id === entry.id;
      if (!isSame || episode.calls !== entry.episode.calls) {
        this.#episode = await this.#continued(entry, deployment);
      }
      return this.#episode;
    });
    this.#turn = begun.catch(() => {});
    return begun;
  }

  /** Fetch a policy, and pay for a report under it; what does not fit is refused, and costs nothing. */
  async #paid(deployment, again, due) {
    const id = hex(new SystemSource().randomBytes(REPORT_ID_BYTES));
    const received = await this.#received(id, deployment);
    await readReceived(received, deployment);
    return this.ledger.begin(deployment, id, { ...received, due, calls: 0 }, { again });
  }

  async #received(id, deployment) {
    const source = new SystemSource();
    if (deployment.shuffle === null) {
      const number = drawNumber(source);
      const assignment = await this.transport.get(`/v1/policy?id=${id}&number=${number}`);
      return { assignment, number };
    }
    // The user draws: nobody else may know which assignment it is.
    const { answer, digest } = await this.transport.getWithDigest("/v1/policy");
    const { document, reportBytes } = await drawAssignment(answer, deployment, source);
    return { assignment: document, number: document.number, reportBytes, plan: digest };
  }

  async #continued(entry, deployment) {
    const isBegun = entry.status === "begun";
    const assignment = isBegun ? await readReceived(entry.episode, deployment) : null;
    const { problem } = deployment;
    const deliver = (episode, data, send) => this.#deliver(episode, data, send);
    return new Episode(entry, assignment, { problem, ledger: this.ledger, deliver });
  }

  /**
   * Randomize `data` once, write the report down, and send it unless it is to wait. Where anything fails
   * once it is drawn, the report is lost, and never drawn again.
   */
  async #deliver({ entry, assignment }, data, send) {
    const make = async () => {
      const deployment = await this.deployment();
      const paid = await this.ledger.draw(entry.id);
      if (paid.status !== "drawing") return paid;
      const values = deployment.privatize(data, assignment);
      const text = reportText(assignment, entry.id, values);
      return this.ledger.complete(entry.id, await bodyOf(text, assignment, deployment));
    };
    const made = entry.status === "begun" ? await this.ledger.alone(make) : entry;
    return send && this.#isDue(made) ? this.send(made) : made;
  }

  #isDue({ due }) {
    return due === undefined || due <= this.ledger.clock();
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

  /**
   * Send what an earlier visit could not, and return the settled entries. An episode whose time has
   * come is reported as it is: a user who is not at its end has left.
   */
  async resume() {
    const { digest } = await this.deployment();
    const entries = (await this.ledger.entries()).filter((entry) => entry.deployment === digest);
    const settled = [];
    for (const entry of entries) {
      if (entry.status === "pending" && this.#isDue(entry)) settled.push(await this.send(entry));
      const due = entry.status === "begun" ? entry.episode.due : null;
      if (due !== null && this.#isDue({ due })) settled.push(await (await this.begin()).report());
    }
    return settled;
  }

  /**
   * Do all of it: an episode that starts with `start`, a state or a vector or a function that returns it,
   * its report, and sending it. `step(seen, action, h)` resolves to { reward, next }, with vectors also
   * `terminated`, or to null if the user stops or does something else. Whoever stops, and even a `step`
   * that fails, still reports, so that taking part says nothing.
   */
  async participate(start, step, { again = false } = {}) {
    await this.resume();
    for (let episode = await this.begin({ again }); ; episode = await this.begin()) {
      let failure = null;
      try {
        await play(episode, start, step);
      } catch (error) {
        // Another tab is further: go on from there, or take the report that it has made.
        if (error instanceof OvertakenError) continue;
        failure = error;
      }
      const entry = await episode.report();
      if (failure !== null) throw failure;
      return entry;
    }
  }
}

/** Read an assignment as it was received or kept, and refuse now what would fail once a report is drawn. */
async function readReceived({ assignment, number, reportBytes, plan }, deployment) {
  const read = await readAssignment(assignment, deployment, number);
  const more = reportBytes === undefined ? {} : { reportBytes, plan };
  const issued = { ...read, ...more };
  await checkSealing(issued, deployment);
  return issued;
}

/** Return a date in seconds since 1970, as the ledger keeps times; null without any. */
function secondsOf(due) {
  const seconds = due === null ? 0 : due instanceof Date ? due.getTime() / 1000 : NaN;
  if (Number.isNaN(seconds)) throw new InputError("due", due, "a Date, or null");
  return due === null ? null : seconds;
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
