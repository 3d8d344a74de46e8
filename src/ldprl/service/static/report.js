// The card of both demo pages that shows a report and sends it.

import { byId, say } from "./dom.js";
import { count } from "./words.js";

/** A person is waiting: show an error early. */
export const ATTEMPTS = 3;

/** Show a report as it is sent. */
export function shownReport(report) {
  say(byId("body"), JSON.stringify(report, null, 1).replace(/\n\s+(?=-?\d|\])/g, " "));
  say(byId("report-stamp"), "this is all that is sent");
  say(byId("sending"), "");
  byId("send").disabled = false;
  byId("report").hidden = false;
  byId("report-name").focus();
}

/** Send it, and say how many reports the service had before and has now. */
export async function sendOnce(client, entry) {
  byId("send").disabled = true;
  say(byId("sending"), "Sending…");
  try {
    const before = await client.transport.get("/v1/status");
    const { status, cause } = await client.send(entry);
    const after = await client.transport.get("/v1/status");
    if (status === "refused") say(byId("sending"), `The service refused it: ${cause}.`);
    else say(byId("sending"), counted(before.users, after.users));
    if (status !== "refused") say(byId("report-stamp"), "sent, and counted");
  } catch (error) {
    say(byId("sending"), `Not sent: ${error.message}. You can try again: it stays one report.`);
    byId("send").disabled = false;
  }
}

function counted(before, after) {
  return `Counted. The service had ${count(before)} reports and now has ${count(after)}.`;
}
