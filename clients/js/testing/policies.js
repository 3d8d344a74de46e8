// Runs the shared vectors of policies, in node and in browsers alike.

import { hex } from "../src/canonical.js";
import { InputError } from "../src/errors.js";
import { readProblem } from "../src/policies/index.js";
import { Perturbed } from "../src/policies/perturbed.js";

const ODD = [NaN, Infinity, -Infinity, 1e308, -1e308, 1e-320, 0];
const WIDTHS = [400, 4, 0, 60];

/** Return how many vectors were checked, and in words which of them came out differently. */
export async function checkPolicies({ problems, laws, refusals }) {
  const result = { checked: 0, failures: [] };
  const compare = (what, found, expected) => {
    result.checked += 1;
    const [got, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
    if (got !== wanted) result.failures.push(`${what}: ${got} instead of ${wanted}`);
  };
  for (const { name, policy, law, policies, seen, first, digest } of problems) {
    const problem = readProblem(policy);
    const drawn = new Perturbed(law, problem);
    const actions = [];
    for (let number = 0; number < policies; number += 1) {
      const parameters = await drawn.policy(number);
      for (let user = 0; user < seen; user += 1) {
        actions.push(problem.act(parameters, observation(number * seen + user)));
      }
    }
    compare(`${name}: first actions`, actions.slice(0, first.length), first);
    compare(`${name}: all actions`, await digestOf(actions.flat()), digest);
  }
  for (const { numbers, policy, law, perturbations, parameters, r, wide } of laws) {
    const problem = readProblem(policy);
    const drawn = new Perturbed(law, problem);
    for (const [place, number] of numbers.entries()) {
      const theta = await drawn.policy(number);
      compare(`ξ of ${number}`, [...(await drawn.perturbation(number))], perturbations[place]);
      compare(`θ of ${number}`, [...theta], [...problem.readPolicy(parameters[place])]);
      const words = { r: r[place], wide: wide[place] };
      compare(`words of ${number}`, await drawn.publicWords(number), words);
    }
  }
  for (const { field, policy, law } of refusals) {
    compare(`refused for ${field}`, refusedField(policy, law), field);
  }
  return result;
}

function refusedField(policy, law) {
  try {
    new Perturbed(law, readProblem(policy));
    return null;
  } catch (error) {
    return error instanceof InputError ? error.field : String(error);
  }
}

/** Return what a user sees: numbers made from integers, now and then odd ones. */
function observation(user) {
  return WIDTHS.map((width, place) => {
    const word = wordOf(4 * user + place);
    if (word % 61 === 0) return ODD[word % ODD.length];
    return place === 2 ? (word % 5) - 1 : (word / 2 ** 32 - 0.5) * width;
  });
}

function wordOf(number) {
  let x = Math.imul(number, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca77);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae3d);
  return (x ^ (x >>> 16)) >>> 0;
}

async function digestOf(numbers) {
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((number, place) => view.setFloat64(8 * place, number, true));
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", view.buffer)));
}
