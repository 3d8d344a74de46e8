// The kinds of policies that this client knows from the start; an app may define more.

import "./linear.js";
import "./network.js";
import "./shared-linear.js";

export { definePolicy, readProblem } from "./parametric.js";
