// "Approve all" is a list of what was seen: of one conversation, as it was when the list was opened.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { openTab, rest, send, startWorld, until } from "./world.mjs";

const SCENARIO = `
[[script]]
prompt = 'twenty'
[[script.turn]]
call = { tool = "Write", input = { file_path = "many/file-{{i}}.txt", content = "{{i}}\\n" }, repeat = 20 }
[[script.turn]]
say = "All came back."

[[script]]
prompt = 'three'
[[script.turn]]
call = [
  { tool = "Write", input = { file_path = "three/a.txt", content = "a\\n" } },
  { tool = "Write", input = { file_path = "three/b.txt", content = "b\\n" } },
  { tool = "Bash", input = { command = "rm -rf build" } },
]
[[script.turn]]
say = "Three came back."
`;

const sheet = (page) => page.getByRole("dialog", { name: /^Approve \d+ calls\?$/ });

/** How many calls of a conversation have each status. */
async function statuses(world, session) {
  const { executions } = await rest(world, "GET", `tools/executions?session=${session}&limit=100`);
  const counts = {};
  for (const { status } of executions) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const caller = (name) => ({ tool_name: "Write", tool_input: { file_path: name, content: name }, session_id: "caller", tool_use_id: name });

async function begin(world, content) {
  const { session_id: session } = await rest(world, "POST", "chat/messages", { content, executor: "local" });
  const expected = content === "twenty" ? 20 : 3;
  await until(async () => (await statuses(world, session)).awaiting_approval === expected, `${expected} calls of ${content} wait`);
  return session;
}

test("approve all never touches another conversation", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const twenty = await begin(world, "twenty");
  const three = await begin(world, "three");
  const page = await openTab(world, { path: `agent/${three}` });
  await page.getByText("1 of 23").waitFor();
  // The open conversation comes first, although the other one asked before it.
  const where = page.getByRole("dialog").getByLabel("Where it belongs");
  assert.match(await where.textContent(), /workspace.*three/s);
  assert.doesNotMatch(await where.textContent(), /another/);
  await page.getByRole("button", { name: "Approve all 2…" }).click();
  assert.deepEqual(await sheet(page).getByRole("listitem").allTextContents(), ["Write Write three/a.txt +1 −0", "Write Write three/b.txt +1 −0"]);
  await sheet(page).getByText(/^workspace › three · /).waitFor();
  await page.screenshot({ path: join(RESULTS, "approve-all.png") });
  await sheet(page).getByRole("button", { name: "Approve these 2" }).click();
  await until(async () => (await statuses(world, three)).completed === 2, "both have run");
  assert.deepEqual(await statuses(world, three), { completed: 2, awaiting_approval: 1 });
  assert.deepEqual(await statuses(world, twenty), { awaiting_approval: 20 });
});

test("approve all takes nothing that arrived since", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  for (const name of ["a.txt", "b.txt"]) await rest(world, "POST", "tools/calls", caller(name));
  const page = await openTab(world);
  await page.getByText("1 of 2").waitFor();
  await page.getByRole("button", { name: "Approve all 2…" }).click();
  await sheet(page).waitFor();
  await rest(world, "POST", "tools/calls", caller("c.txt"));
  await until(async () => (await page.title()).startsWith("(3) "), "the third has arrived");
  assert.equal(await sheet(page).getByRole("listitem").count(), 2);
  await sheet(page).getByRole("button", { name: "Approve these 2" }).click();
  await sheet(page).waitFor({ state: "hidden" });
  await until(async () => (await statuses(world, "caller")).approved === 2, "both are approved");
  const { approvals } = await rest(world, "GET", "approvals?status=pending");
  assert.deepEqual(approvals.map(({ tool_input: input }) => input.file_path), ["c.txt"]);
});

test("what approve all could not settle is told for each, and what another tab decided meanwhile stands", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "three");
  await page.getByRole("button", { name: "Approve all 2…" }).click();
  await sheet(page).waitFor();
  const { approvals } = await rest(world, "GET", "approvals?status=pending");
  const first = approvals.find(({ tool_input: input }) => input.file_path === "three/a.txt");
  await rest(world, "POST", `approvals/${first.approval_id}/reject`, { reason: "not this one" });
  await sheet(page).getByRole("button", { name: "Approve these 2" }).click();
  const refused = page.getByRole("dialog", { name: "What was refused" });
  await refused.getByText("1 approved, 1 refused.").waitFor();
  assert.match(await refused.getByRole("listitem").textContent(), /Write Write three\/a\.txt: it no longer waits/);
  await refused.getByRole("button", { name: "Close" }).last().click();
  await until(async () => (await statuses(world, new URL(page.url()).pathname.split("/").at(-1))).completed === 1, "the other has run");
});

test("what was approved all at once is done, also when the tab is closed", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const twenty = await begin(world, "twenty");
  const page = await openTab(world, { path: `agent/${twenty}` });
  await page.getByRole("button", { name: "Approve all 20…" }).click();
  const send20 = sheet(page).getByRole("button", { name: "Approve these 20" });
  // The list is longer than its frame: it has to be looked at to its end.
  await sheet(page).getByLabel("Exactly these").hover();
  while ((await send20.getAttribute("data-missing")) !== null) await page.mouse.wheel(0, 100);
  await send20.click();
  await page.close();
  await until(async () => (await statuses(world, twenty)).completed === 20, "all twenty have run");
});
