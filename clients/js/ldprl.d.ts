/** The user's side of an ldprl service. */

/** Bad input, refused at the door: names the field, the value and what was expected. */
export class InputError extends Error {
  constructor(field: string, value: unknown, expected: string);
  readonly field: string;
  readonly value: unknown;
  readonly expected: string;
}

/** A service that did not do what was asked of it. */
export class ServiceError extends Error {
  constructor(
    message: string,
    about?: { status?: number | null; reason?: string | null; later?: boolean },
  );
  /** The HTTP status; null if there was no response at all. */
  readonly status: number | null;
  /** The machine-readable cause that the service gave, if any. */
  readonly reason: string | null;
  /** Whether the same request may succeed later. */
  readonly later: boolean;
}

export interface Shape {
  readonly states: number;
  readonly actions: number;
  readonly horizon: number;
  readonly stepDependent: boolean;
}

export interface Labels {
  readonly title: string;
  /** Absent where users see vectors, as is the next. */
  readonly states?: readonly string[];
  readonly actions?: readonly string[];
  readonly reward: string;
}

/** The privacy of reports that a relay mixes. */
export interface Shuffle {
  /** The relay hands over no fewer reports than this. */
  readonly crowd: number;
  /** A decimal string. */
  readonly centralEpsilon: string;
  /** A decimal string. */
  readonly delta: string;
  /** The service's public key, in hex. */
  readonly key: string;
}

/** Say in plain words what a user has, with and without trust in the relay. */
export function promises(deployment: Deployment): string;

/**
 * "subset-selection", "return-bits", "bits-and-moves", "laplace", "randomized-response",
 * "threshold-bits", or one that the app defined.
 */
export type MechanismName = string;

/** How a user randomizes: what `defineMechanism` takes is its class. */
export interface Mechanism {
  /** Return the questions that a service sent, or refuse them. */
  readQuestions(questions: unknown): readonly Question[];
  /** Return the values to send. */
  privatize(data: Data, assignment: Assignment, source: RandomSource): number[];
  /** Return values whose digits take as much room as any report's; needed behind a relay. */
  longest?(assignment: Pick<Assignment, "questions">): number[];
}

/**
 * Make a mechanism known; ε is a fraction, and less private integers must be refused. One with
 * `forVectors` is given the problem in place of a shape.
 */
export function defineMechanism(
  name: MechanismName,
  mechanism: (new (
    problem: any,
    epsilon: { top: bigint; bottom: bigint },
    randomizer: Record<string, unknown>,
  ) => Mechanism) & { readonly forVectors?: boolean },
): void;

/** A public partition of the states: `cell[s]` is the cell of state s. */
export interface Partition {
  readonly cell: readonly number[];
  readonly count: number;
}

/** How an answer is hidden: `size` of the `items` are reported, the own one with probability threshold/2⁶⁴. */
export interface Oracle {
  readonly items: number;
  readonly size: number;
  readonly threshold: bigint;
}

export interface Question {
  /**
   * What is asked: "reward", "transition", "joint", "return", "worth", "threshold", or one that the app
   * defined.
   */
  readonly kind: string;
  /** The step asked about, from 0. */
  readonly step: number;
  /** Absent with "threshold". */
  readonly where?: Partition;
  readonly oracle: Oracle;
  /**
   * The range of the threshold: with "return" in units of 2⁻¹⁶ of a reward, with "threshold" of the range
   * of returns.
   */
  readonly low?: number;
  readonly high?: number;
  /** With "threshold": the word r of the user's number, and whether the threshold is a wide one. */
  readonly own?: readonly [number, boolean] | null;
}

/** A kind of question; `where` and what follows it may be left out. */
export interface Observable {
  readonly kind: string;
  outcomes(cells: number): number;
  /** The outcome of a user who followed the policy. */
  outcome(
    trajectory: Trajectory,
    step: number,
    where: Partition,
    source: RandomSource,
    question: Question,
  ): number;
  /** What an outcome stands for. */
  meaning(outcome: number, cells: number): Record<string, unknown>;
  /** How many of the episodes with a state of the cell at this step have the outcome. */
  share(
    outcome: number,
    step: number,
    shape: Shape,
    where: Partition,
    question: Question,
  ): { top: bigint; bottom: bigint };
  /** What is asked, after "In month 3, …". */
  words(labels: Labels): string;
  where?(states: number): Partition;
  /** How many steps can be asked about. */
  steps?(horizon: number): number;
  /** Up to which step the policy must have been followed. */
  lastStep?(step: number, horizon: number): number;
  /** Return the parameters that a question of this kind has, or refuse them. */
  read?(field: string, question: Record<string, unknown>, shape: Shape): Record<string, unknown>;
  /** Whether there is an answer for users who have nothing to report. */
  hasBottom?: boolean;
  /** The item that they hold: that answer, or a random one where there is none. */
  missingItem?(items: number, source: RandomSource): number;
}

/** Make a kind of question known to all deployments of this page. */
export function defineObservable(observable: Observable): void;

/** What a service hands to one user. */
export interface Assignment {
  readonly deployment: string;
  readonly version: number;
  readonly assignment: number;
  /** Actions, `policy[step][state]`, or the parameters of a policy on vectors. */
  readonly policy: readonly (readonly number[])[] | Float64Array;
  /** The number that the user drew, where every user has a policy of their own; in the report. */
  readonly number?: number;
  /** What to report about, each at a step of its own; empty if the mechanism asks nothing. */
  readonly questions: readonly Question[];
  /** With a relay: how long every report is before it is sealed. */
  readonly reportBytes?: number;
  /** With a relay: the SHA-256 of the plan that it was drawn from, in hex. */
  readonly plan?: string;
}

/** One user's episode: H of each, or none. It is never sent. */
export interface Trajectory {
  readonly states: readonly number[];
  readonly actions: readonly number[];
  /** Numbers from 0 to 1. */
  readonly rewards: readonly number[];
}

/** The trajectory of a user who stopped early, did otherwise, or has nothing to report. */
export const NOTHING: Trajectory;

/** What a report is made from: a trajectory; where users see vectors, the return, null of one who left. */
export type Data = Trajectory | number | null;

/** The number of a state, or all that a user sees: numbers, and names or numbers of categories. */
export type Observation = number | ArrayLike<number | string | boolean>;
/** The number of an action, or numbers where actions are levels. */
export type Action = number | readonly number[];

/** What users see and do, where policies have parameters: a deployment's `policy`. */
export interface Problem {
  readonly horizon: number;
  readonly features: {
    readonly each: readonly {
      readonly name: string;
      readonly unit: string;
      readonly centre: number;
      readonly scale: number;
      /** Empty for a number. */
      readonly categories: readonly string[];
    }[];
  };
  readonly actions: {
    /** The choices, or absent. */
    readonly names?: readonly string[];
    /** The levels, or absent. */
    readonly each?: readonly { name: string; unit: string; low: number; high: number }[];
  };
  /** The least and the largest return. */
  readonly returns: readonly [number, number];
  /** Return the action of a policy for what a user sees. */
  act(parameters: ArrayLike<number>, observation: Observation): Action;
}

/**
 * Make a kind of policy known: a subclass of `Parametric` with the getter `size`, how many parameters
 * there are, and `outputs(parameters, inputs)`, which adds and multiplies in one stated order.
 */
export function definePolicy(kind: string, problem: typeof Parametric): void;

/** A problem whose policies are functions of what a user sees and of parameters. */
export class Parametric {
  constructor(document: Record<string, unknown>);
}

/** Where random bits come from. */
export interface RandomSource {
  randomBytes(count: number): Uint8Array;
}

/** The platform's cryptographic generator. */
export class SystemSource implements RandomSource {
  randomBytes(count: number): Uint8Array;
}

/** A running service's frozen parameters, checked. */
export interface Deployment {
  readonly document: Readonly<Record<string, unknown>>;
  /** SHA-256 of the document in canonical JSON, in hex. */
  readonly digest: string;
  readonly name: string;
  /** The sizes of tables; null where users see vectors. */
  readonly shape: Shape | null;
  /** What users see and do. */
  readonly problem: Problem | object;
  readonly mechanism: MechanismName;
  /** Null where reports go to the service directly. */
  readonly shuffle: Shuffle | null;
  /** A decimal string. */
  readonly epsilon: string;
  readonly labels: Labels;
  /** Return the values to send for a user with this `data` who received `assignment`. */
  privatize(data: Data, assignment: Assignment): number[];
}

/** Read a deployment's document; one with less privacy than its ε says is refused. */
export function readDeployment(document: unknown): Promise<Deployment>;

/** Return the digest of whatever deployment the service at `url` has now, trusted or not. */
export function servedDigest(url: string | URL, calls?: CallOptions): Promise<string>;

/** Read what a service sent to a user who drew `number`; what does not fit is refused. */
export function readAssignment(
  document: unknown,
  deployment: Deployment,
  number?: number,
): Promise<Assignment>;

/** Write JSON with sorted keys and without spaces. */
export function canonicalJson(value: unknown): string;

/** Return the SHA-256 of the canonical JSON of `document`, in hex. */
export function digestOf(document: unknown): Promise<string>;

/** What an item of a subset report stands for; a field is there if it was asked about. */
export interface Answer {
  /** Absent with "return", "worth" and "threshold", which report no state. */
  readonly state?: number;
  readonly reward?: 0 | 1;
  readonly next?: number;
  /** With "return", "worth" and "threshold": whether the return was above a threshold. */
  readonly above?: 0 | 1;
}

/** What a subset report answers to one question. */
export interface ExplainedQuestion extends Question {
  /** How many times as likely an episode with one of the answers is to have produced them. */
  readonly factor: number;
  /** How many answers there are. */
  readonly possible: number;
  /** The answers in the report; null stands for nothing to report. */
  readonly answers: readonly (Answer | null)[];
  /** How many episodes have one of them; null where users see vectors. */
  readonly likelier: bigint | null;
}

export interface Explanation {
  readonly mechanism: MechanismName;
  readonly epsilon: string;
  /** How many episodes could have produced the report: all; null where users see vectors. */
  readonly episodes: bigint | null;
  /** One less: all but the user's own. */
  readonly others: bigint | null;
  /** How many times as likely one episode can be to have produced it as another; at most e^ε. */
  readonly factor: number;
  /** With subset selection: what the report answers to each question. */
  readonly questions?: readonly ExplainedQuestion[];
}

/** Say how many episodes could have produced a report, and how much likelier some are. */
export function explain(
  deployment: Deployment,
  assignment: Assignment,
  values: readonly number[],
): Explanation;

/**
 * A report that is paid for, and was never written down: it is being drawn, or, where that failed,
 * lost. It counts for ever and is never drawn again.
 */
export interface DrawingEntry {
  readonly id: string;
  readonly deployment: string;
  readonly epsilon: string;
  readonly status: "drawing";
}

/** A report that is paid for, and its episode so far: what the report will be made from, no more. */
export interface BegunEntry {
  readonly id: string;
  readonly deployment: string;
  readonly epsilon: string;
  readonly status: "begun";
  readonly episode: Readonly<Record<string, unknown>>;
}

/** One report, as written down. */
export interface Entry {
  readonly id: string;
  /** Digest of the deployment. */
  readonly deployment: string;
  readonly epsilon: string;
  /** The JSON that is sent, the same bytes each time. */
  readonly body: string;
  readonly status: "pending" | "counted" | "duplicate" | "accepted" | "refused";
  /** Why it was refused. */
  readonly cause?: string;
  /** When the service said so, in seconds since 1970. */
  readonly settled?: number;
  /** Before when it is not sent, in seconds since 1970. */
  readonly due?: number;
}

/** What a ledger holds. */
export type AnyEntry = BegunEntry | DrawingEntry | Entry;

/** What reports may cost: an ε as a decimal string, ever, or in any stretch of `days` days. */
export type Budget = string | { readonly epsilon: string; readonly days: number };

/** What is left for a deployment's reports. */
export interface Left {
  /** How many more of them fit now, 10,000 at the most. */
  readonly reports: number;
  /** The ε of the reports that count now, as a decimal string. */
  readonly counted: string;
  /** In how many days one fits, if nothing is spent meanwhile; null if that is not known. */
  readonly days: number | null;
}

/** What `work` of a change returns. */
export interface Changed<T> {
  readonly entries: readonly AnyEntry[];
  readonly result: T;
}

/** Where a ledger is kept. */
export interface LedgerStorage {
  read(): Promise<readonly AnyEntry[]>;
  /** Resolve to the result when the new entries are safe; nobody else changes them meanwhile. */
  change<T>(work: (entries: readonly AnyEntry[]) => Changed<T>): Promise<T>;
  /** Await `work()` while no other page that shares the storage makes a report. */
  alone?<T>(work: () => Promise<T>): Promise<T>;
}

/** The browser's IndexedDB; a change is on disk when it resolves. */
export class BrowserStorage implements LedgerStorage {
  read(): Promise<readonly AnyEntry[]>;
  change<T>(work: (entries: readonly AnyEntry[]) => Changed<T>): Promise<T>;
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Keeps entries while the page is open. For invented users: a real one reports again. */
export class ForgetfulStorage implements LedgerStorage {
  read(): Promise<readonly AnyEntry[]>;
  change<T>(work: (entries: readonly AnyEntry[]) => Changed<T>): Promise<T>;
}

/** The user's own book of reports. */
export class Ledger {
  constructor(storage: LedgerStorage, budget?: Budget | null, clock?: () => number);
  entries(): Promise<readonly AnyEntry[]>;
  latest(deployment: string): Promise<AnyEntry | null>;
  /** Return the ε spent, in all or on one deployment, as a decimal string. */
  spent(deployment?: string | null): Promise<string>;
  /** Return how many more reports a deployment could have, before any is made. */
  left(deployment: { digest: string; epsilon: string }): Promise<Left>;
  /** Await `work()` while nobody else with this ledger makes a report. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** How to call a service. */
export interface CallOptions {
  fetch?: typeof fetch;
  sleep?: (milliseconds: number) => Promise<unknown>;
  /** How often to try before giving up; the report stays in the storage. */
  attempts?: number;
}

export interface ClientOptions extends CallOptions {
  /** The deployment that the page was made for; any other is refused. */
  digest: string;
  /** Where the ledger is kept; a BrowserStorage by default. */
  storage?: LedgerStorage;
  /** What all reports together may cost; without it, one report for each deployment. */
  budget?: Budget | null;
}

/** What happened; null or undefined if the user stopped or did something else. */
export type Outcome =
  | { reward: number; next?: Observation; terminated?: boolean }
  | null
  | undefined;
export type Step = (
  seen: any,
  action: any,
  h: number,
) => Outcome | Promise<Outcome>;

/** One user's way through an episode; each call is on disk when it resolves. */
export class Episode {
  /** The ledger's entry. */
  readonly entry: AnyEntry;
  /** What was received; null where the report is made already. */
  readonly assignment: Assignment | null;
  /** How many steps are on record. */
  readonly step: number;
  /** The state that the user is in, as far as it is known; null where users see vectors. */
  readonly state: number | null;
  /** Whether only the report remains. */
  readonly done: boolean;
  /** Return what the policy advises; without an observation, in the state that was recorded as next. */
  action(observation?: Observation): Promise<any>;
  /** Record the reward of the last action. */
  record(reward: number, more?: { next?: number; terminated?: boolean }): Promise<void>;
  /** Randomize what is on record, write the report down, and send it unless it is to wait. */
  report(options?: { send?: boolean }): Promise<Entry>;
  /** Return what the report is made from; it is never sent. */
  data(): Data;
}

/** One user's part in a service. */
export class Client {
  constructor(url: string | URL, options: ClientOptions);
  readonly ledger: Ledger;
  /** Return the service's deployment, fetched and checked once. */
  deployment(): Promise<Deployment>;
  /**
   * Pay for a report, fetch the policy, and return the episode to play, or the unfinished one of an
   * earlier visit. The report is not sent before `due`.
   */
  begin(options?: { again?: boolean; due?: Date | null }): Promise<Episode>;
  /** Send a report that is not settled yet. */
  send(entry: Entry): Promise<Entry>;
  /** Send what an earlier visit could not, and report episodes whose time has come. */
  resume(): Promise<Entry[]>;
  /** Do all of it. */
  participate(
    start: Observation | (() => Observation | Promise<Observation>),
    step: Step,
    options?: { again?: boolean },
  ): Promise<Entry>;
}
