// The client of the founding document, to the letter, in a real browser: its words must work against us.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { TOKEN, openTab, rest, startWorld } from "./world.mjs";

const SCENARIO = `
[[script]]

[[script.turn]]
call = { tool = "read_file", input = { path = "a.txt" } }

[[script.turn]]
expect = { result = "^read a.txt$", is_error = false }
call = { tool = "execute_command", input = { command = "npm", args = ["test"], timeout = 30 } }

[[script.turn]]
expect = { result = "^ran npm test$", is_error = false }
call = { tool = "write_file", input = { path = "no.txt", content = "x" } }

[[script.turn]]
expect = { result = "^User rejected: User declined$", is_error = true }
call = { tool = "list_directory", input = { path = "missing" } }

[[script.turn]]
expect = { result = "no such folder", is_error = true }
say = "All of it was heard."
`;

/** What the document leaves to the extension: the dialog and the tools. */
const EXTENSION = `
// Its page has a cookie, and sends beside it what only its own origin can read.
const secret = localStorage.getItem("countersign.page-secret");
const plainFetch = window.fetch;
window.fetch = (url, options = {}) =>
  plainFetch(url, { ...options, headers: { ...options.headers, "x-countersign-session": secret } });
// An EventSource has no headers: it may name a token in its address.
const PlainEventSource = window.EventSource;
window.EventSource = class extends PlainEventSource {
  constructor(url) {
    super(url + "?token=" + window.streamToken);
  }
};
const heard = (window.heard = []);
function showApprovalDialog(tool, risk, seconds) {
  heard.push(["asked", tool, risk, seconds]);
  return tool !== "write_file";
}
async function executeToolLocally(tool, params) {
  heard.push(["ran", tool]);
  if (tool === "list_directory") throw new Error("no such folder");
  const stdout = tool === "read_file" ? "read " + params.path : "ran " + [params.command, ...params.args].join(" ");
  return { success: true, stdout, stderr: null, exit_code: 0 };
}
`;

test("the founding document's client runs unchanged", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  const id = "default";
  const written = await readFile(new URL("founding-client.txt", import.meta.url), "utf8");
  // The one placeholder of the document that is not JavaScript.
  const client = written.replace("'/my/projects/{projectId}/chat/stream'", `'/my/projects/${id}/chat/stream'`);
  assert.notEqual(client, written);
  await page.evaluate((token) => (window.streamToken = token), TOKEN);
  await page.evaluate(`(() => { const projectId = ${JSON.stringify(id)}; ${EXTENSION} ${client}
    return new Promise((open) => eventSource.addEventListener("open", () => open())); })()`);

  const sent = await page.evaluate(
    async (url) => {
      const answer = await fetch(url, { method: "POST", body: JSON.stringify({ content: "go" }) });
      return [answer.status, await answer.json()];
    },
    `/my/projects/${id}/chat/messages`,
  );
  assert.equal(sent[0], 202, JSON.stringify(sent[1]));
  const { messages } = await until(async () => {
    const told = await rest(world, "GET", `sessions/${sent[1].session_id}/messages`);
    return JSON.stringify(told.messages).includes("All of it was heard.") ? told : undefined;
  });
  assert.ok(messages.length >= 9, JSON.stringify(messages));
  assert.deepEqual(await page.evaluate("window.heard"), [
    ["ran", "read_file"],
    ["asked", "execute_command", "MEDIUM", 300],
    ["ran", "execute_command"],
    ["asked", "write_file", "MEDIUM", 300],
    ["ran", "list_directory"],
  ]);
});

/** Asks until there is an answer; the test's own time limit ends it. */
async function until(ask) {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
