// Calls that run elsewhere: on a client's machine, or by whoever asked. One queue for all of them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { connectClient, decide, dialog, done, openTab, rest, startWorld, transcript } from "./world.mjs";

const SCENARIO = `
[[script]]

[[script.turn]]
say = "I run the tests on your machine."
call = { tool = "execute_command", input = { command = "cargo", args = ["test", "--all"] } }

[[script.turn]]
say = "They pass."
`;

/** A conversation whose tools a client runs, begun by a program. */
async function begin(world) {
  const { session_id: session } = await rest(world, "POST", "chat/messages", { content: "test it", executor: "client" });
  return session;
}

test("a client's call is decided here, waits for a client, runs there, and is followed here", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const session = await begin(world);
  const page = await openTab(world, { path: `agent/${session}` });
  const card = dialog(page, "execute_command");
  await card.getByText("runs on the client").waitFor();
  await page.screenshot({ path: join(RESULTS, "client-card.png") });
  await decide(page, "Approve");
  await transcript(page).getByText("Approved. Waiting for a client to run it: none is connected.").waitFor();
  await page.screenshot({ path: join(RESULTS, "client-waiting.png") });

  const client = await connectClient(t, world, "laptop");
  const { tool_id: id, tool_params: input, lease } = await client.next("tool.execution_signal");
  assert.deepEqual([input.command, input.args], ["cargo", ["test", "--all"]]);
  await transcript(page).getByText("Running on the client…").waitFor();
  const output = Array.from({ length: 30 }, (_, i) => `test number_${i} ... ok\n`).join("");
  await rest(world, "POST", `tools/${id}/lease`, { lease: lease.token, output });
  await page.getByRole("log", { name: "Output so far" }).getByText("number_29").waitFor();
  await page.getByRole("button", { name: "Show more of 30 lines" }).waitFor();
  await page.screenshot({ path: join(RESULTS, "client-running.png") });

  const result = { success: true, stdout: "30 passed\n", stderr: "", exit_code: 0 };
  await rest(world, "POST", `tools/${id}/result`, { status: "completed", result, lease: lease.token });
  await done(page);
  await transcript(page).getByText("30 passed").waitFor();
  await transcript(page).getByText(/Approved by/).waitFor();
  assert.equal(await page.getByRole("log", { name: "Output so far" }).count(), 0);
});

const WRITE = `
[[script]]

[[script.turn]]
say = "I write it."
call = { tool = "write_file", input = { path = "notes.txt", content = "one\\nthree\\n" } }

[[script.turn]]
say = "Written."
`;

test("a diff of the client's file is what the page shows, and what the client is told to write over", async (t) => {
  const world = await startWorld(t, { scenario: WRITE });
  const client = await connectClient(t, world, "laptop", "&preimages=true");
  const onlooker = await connectClient(t, world, "tower");
  assert.equal((await onlooker.next("executor.role")).role, "standing_by");
  const session = await begin(world);
  const { tool_id: id } = await client.next("tool.preview_request");
  const path = "/home/me/shop/notes.txt";
  const file = { root: "/home/me/shop", path, digest: "d-1", content: "one\ntwo\n" };
  await rest(world, "POST", `tools/${id}/preimage`, { client_id: "laptop", ...file });
  const page = await openTab(world, { path: `agent/${session}` });
  const card = dialog(page, "write_file");
  await card.getByText("three", { exact: true }).waitFor();
  await card.getByText("two", { exact: true }).waitFor();
  await card.getByText(path).first().waitFor();
  await page.screenshot({ path: join(RESULTS, "client-diff.png") });
  await decide(page, "Approve");
  const signal = await client.next("tool.execution_signal");
  assert.deepEqual(signal.preimages, [{ path, digest: "d-1" }]);
  const changed = { status: "failed", error: "notes.txt is another one", error_type: "file_changed" };
  await rest(world, "POST", `tools/${id}/result`, { ...changed, lease: signal.lease.token });
  await transcript(page).getByText("notes.txt is another one").waitFor();
  await done(page);
});

test("a page that comes while a client's call runs says that it has missed something", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const client = await connectClient(t, world, "laptop");
  const session = await begin(world);
  const page = await openTab(world, { path: `agent/${session}` });
  await dialog(page, "execute_command").waitFor();
  await decide(page, "Approve");
  const { tool_id: id, lease } = await client.next("tool.execution_signal");
  await rest(world, "POST", `tools/${id}/lease`, { lease: lease.token, output: "line one of it\n" });
  await page.getByText("line one of it").waitFor();
  await page.reload();
  await transcript(page).getByText("Running on the client…").waitFor();
  await rest(world, "POST", `tools/${id}/lease`, { lease: lease.token, output: "line two of it\n" });
  await page.getByText("line two of it").waitFor();
  await page.getByText(/what came before is not shown here/).waitFor();
  await rest(world, "POST", `tools/${id}/result`, { status: "failed", error: "the disk is full", lease: lease.token });
  await transcript(page).getByText("the disk is full").waitFor();
  await done(page);
});

test("what another program asks is decided from any view, and the program gets its answer", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world, { path: "history" });
  await page.getByText("No calls yet").waitFor();
  const call = { tool_name: "Bash", tool_input: { command: "touch made-by-the-caller" }, tool_use_id: "call_1", session_id: "theirs" };
  const { tool_id: id, status } = await rest(world, "POST", "tools/calls", call);
  assert.equal(status, "awaiting_approval");
  const card = dialog(page, "Bash");
  await card.getByText("asked by another agent (API)").waitFor();
  await page.getByRole("button", { name: /touch made-by-the-caller.*Waiting/ }).waitFor();
  await page.screenshot({ path: join(RESULTS, "caller-card.png") });
  const waiting = rest(world, "GET", `tools/${id}?wait_seconds=60&known_status=awaiting_approval`);
  await decide(page, "Approve");
  assert.equal((await waiting).status, "approved");
  await page.getByRole("button", { name: /touch made-by-the-caller.*Approved where: Caller \(API\)/ }).waitFor();

  await rest(world, "POST", `tools/${id}/result`, { status: "completed", result: { success: true, stdout: "made", exit_code: 0 } });
  // Nobody tells a page of this; it looks by itself.
  await page.getByRole("button", { name: /touch made-by-the-caller.*Completed/ }).click();
  await page.getByRole("region", { name: "Output" }).getByText("made").waitFor();
});

test("what another program asks can be rejected, and it reads why", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world, { path: "rules" });
  const call = { tool_name: "Bash", tool_input: { command: "rm -rf build" } };
  const { tool_id: id } = await rest(world, "POST", "tools/calls", call);
  await dialog(page, "Bash").waitFor();
  await decide(page, "Reject", "keep it");
  const { status, error } = await rest(world, "GET", `tools/${id}?wait_seconds=60&known_status=awaiting_approval`);
  assert.deepEqual([status, error], ["rejected", "User rejected: keep it"]);
});

test("calls of an agent here, of a client's and of another program wait in one queue", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  await begin(world);
  for (const name of ["one", "two"]) {
    await rest(world, "POST", "tools/calls", { tool_name: "Bash", tool_input: { command: `touch ${name}` } });
  }
  const page = await openTab(world);
  await page.getByRole("button", { name: /^\d of 3$/ }).click();
  const list = page.getByRole("list", { name: "All that waits" });
  await list.getByText("runs on the client").waitFor();
  assert.equal(await list.getByText("asked by another agent (API)").count(), 2);
  await page.screenshot({ path: join(RESULTS, "queue.png") });
  await list.getByRole("button", { name: /execute_command/ }).click();
  await dialog(page, "execute_command").waitFor();
  await decide(page, "Reject");
  for (const left of [2, 1]) {
    await page.getByText(new RegExp(`^\\d of ${left}$`)).waitFor();
    await decide(page, "Approve");
  }
  await page.getByRole("dialog").waitFor({ state: "detached" });
});
