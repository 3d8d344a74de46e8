// Policies that are linear in what a user sees.

import { Layered } from "./layers.js";
import { definePolicy } from "./parametric.js";

definePolicy("linear", class Linear extends Layered {});
