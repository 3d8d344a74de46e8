// The user's side of an ldprl service, for browsers and node: no dependencies.

export { canonicalJson, digestOf } from "./src/canonical.js";
export { Client, servedDigest } from "./src/client.js";
export { readDeployment } from "./src/deployment.js";
export { promises } from "./src/shuffle.js";
export { defineMechanism } from "./src/mechanisms.js";
export { Episode } from "./src/episode.js";
export { InputError, ServiceError } from "./src/errors.js";
export { explain } from "./src/explain.js";
export { defineObservable } from "./src/questions/index.js";
export { Ledger } from "./src/ledger.js";
export { readAssignment } from "./src/assignment.js";
export { definePolicy } from "./src/policies/index.js";
export { Parametric } from "./src/policies/parametric.js";
export { SystemSource } from "./src/random.js";
export { BrowserStorage, ForgetfulStorage } from "./src/storage.js";
export { NOTHING } from "./src/trajectory.js";
