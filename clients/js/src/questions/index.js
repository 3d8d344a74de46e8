// The kinds of questions that this client knows from the start; an app may define more.

import "./reward.js";
import "./transition.js";
import "./joint.js";
import "./return.js";
import "./worth.js";

export { defineObservable, observableOf } from "./observables.js";
