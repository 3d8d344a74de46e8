// The browser client behind the contract of docs/service/protocol.md: JSON lines in, JSON lines out.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

import { Client, readAssignment, readDeployment } from "../ldprl.js";
import { SystemSource } from "../src/random.js";
import { ReplayedSourceForTests } from "./replayed-source.js";

const SUPPORTS = [
  ...["subset-selection", "return-bits", "bits-and-moves", "threshold-bits"],
  ...["laplace", "randomized-response", "laws", "relay", "certificate", "structure", "budget"],
];

/** A ledger in a file; node has no IndexedDB. */
class FileStorage {
  constructor(folder) {
    this.path = join(folder, "ledger.json");
  }

  async read() {
    try {
      return JSON.parse(readFileSync(this.path, "utf8"));
    } catch (error) {
      if (error.code === "ENOENT") return [];
      throw error;
    }
  }

  async change(work) {
    const { entries, result } = work(await this.read());
    const file = openSync(`${this.path}.new`, "w");
    writeSync(file, JSON.stringify(entries));
    fsyncSync(file);
    closeSync(file);
    renameSync(`${this.path}.new`, this.path);
    return result;
  }
}

const real = SystemSource.prototype.randomBytes;
let replayed = null;
let ids = 0;

// The client draws the id of a report first; no test chooses ids.
SystemSource.prototype.randomBytes = function randomBytes(count) {
  if (replayed === null) return real.call(this, count);
  if (ids === 0) return replayed.randomBytes(count);
  ids -= 1;
  return real.call(this, count);
};

const CALLS = {
  features: async () => ({ supports: SUPPORTS }),

  async draw({ document, assignment, trajectory, total, count }) {
    const deployment = await readDeployment(document);
    const issued = await readAssignment(assignment, deployment, assignment.number);
    const data = trajectory ?? total;
    const reports = Array.from({ length: count }, () => deployment.privatize(data, issued));
    return { reports };
  },

  async take_part({ url, digest, ledger, seen, rewards, terminated, budget = null }) {
    ids = 1;
    const storage = new FileStorage(ledger);
    // Its pauses of seconds are a fiftieth as long here.
    const sleep = (milliseconds) => setTimeout(milliseconds / 50);
    const client = new Client(url, { digest, storage, budget, sleep });
    const actions = [];
    const step = (_, action, h) => {
      actions.push(action);
      if (h >= rewards.length) return null;
      const ends = terminated && h + 1 === rewards.length;
      return { reward: rewards[h], next: seen[h + 1] ?? seen[h], terminated: ends };
    };
    const entry = await client.participate(seen[0], step, { again: budget !== null });
    return { status: entry.status, actions };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, bytes, ...request } = JSON.parse(line);
  replayed = bytes === undefined ? null : new ReplayedSourceForTests(bytes);
  ids = 0;
  const used = () => ({ used: replayed?.used ?? 0 });
  const answer = await CALLS[call](request).then(
    (done) => ({ ...done, ...used() }),
    (error) => ({ error: String(error), ...used() }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
