// A page that advises its user step by step. States and rewards stay in these variables.

import { Client } from "/client/ldprl.js";

const says = document.getElementById("says");
const form = document.getElementById("step");
const next = document.getElementById("next");

/** Wait until the user has said how the step went. */
function answer() {
  form.hidden = false;
  return new Promise((resolve) => {
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        form.hidden = true;
        resolve(event.submitter.value);
      },
      { once: true },
    );
  });
}

async function takePart() {
  const { url, digest } = await (await fetch("/config.json")).json();
  const client = new Client(url, { digest });
  const { labels, epsilon } = await client.deployment();
  next.replaceChildren(...labels.states.map((label, state) => new Option(label, state)));
  const entry = await client.participate(0, async (state, action, h) => {
    says.textContent = `Step ${h + 1}, ${labels.states[state]}: ${labels.actions[action]}.`;
    const said = await answer();
    return said === "stop" ? null : { reward: Number(said), next: Number(next.value) };
  });
  says.textContent = `Thank you. Your report is ${entry.status}.`;
  document.getElementById("sent").textContent =
    `It cost ε = ${epsilon}, and this is all that was sent: ${entry.body}`;
}

takePart().catch((error) => {
  says.textContent = `It did not work: ${error.message}`;
});
