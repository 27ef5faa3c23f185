// Connections break and pages are reloaded; nothing is lost and nothing comes twice.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { connected, decide, dialog, done, openTab, send, startWorld, transcript } from "./world.mjs";

const WORDS = Array.from({ length: 120 }, (_, i) => `w${i + 1}`);
const SCENARIO = `
chunk = 5
pace_ms = 15

[[script]]

[[script.turn]]
say = "${WORDS.join(" ")} end."
call = { tool = "Write", input = { file_path = "note.txt", content = "x\\n" } }

[[script.turn]]
say = "Written."
`;

async function assertComplete(page) {
  const text = await transcript(page).textContent();
  const words = text.match(/w\d+/g);
  assert.deepEqual(words, WORDS);
  assert.equal(text.split("please go").length - 1, 1, "the prompt is there once");
}

test("a reload in the middle of a run loses nothing", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "please go");
  await transcript(page).getByText(/w20\b/).waitFor();
  await page.waitForURL(/\/agent\/.+/);
  await page.reload();
  await dialog(page, "Write").waitFor();
  await assertComplete(page);

  await page.reload();
  await dialog(page, "Write").waitFor();
  await decide(page, "Approve");
  await done(page);
  await assertComplete(page);
});

test("a connection that breaks while text streams loses nothing", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const sockets = [];
  const prepare = (page) =>
    page.routeWebSocket(/\/api\/terminal\/ws\/agent/, (socket) => {
      socket.connectToServer();
      sockets.push(socket);
    });
  const page = await openTab(world, { prepare });
  await send(page, "please go");
  await transcript(page).getByText(/w20\b/).waitFor();
  await sockets.at(-1).close({ code: 1012, reason: "the network is gone" });
  await page.getByText("Reconnecting…").waitFor();
  await connected(page);
  await dialog(page, "Write").waitFor();
  await assertComplete(page);

  await sockets.at(-1).close({ code: 1012, reason: "and again" });
  await page.getByText("Reconnecting…").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve", exact: true }).isDisabled(), true);
  await connected(page);
  await decide(page, "Approve");
  await done(page);
  await assertComplete(page);
  assert.ok(sockets.length >= 3);
});

for (const signal of ["SIGTERM", "SIGKILL"]) {
  test(`a request that waits survives a server that gets ${signal}, and runs once`, async (t) => {
    const world = await startWorld(t, { scenario: SCENARIO });
    const page = await openTab(world);
    await send(page, "please go");
    await dialog(page, "Write").waitFor();
    await world.restart(signal);
    await transcript(page).getByText("The server was restarted; the run goes on.").waitFor();
    await connected(page);
    await dialog(page, "Write").waitFor();
    await decide(page, "Approve");
    await done(page);
    await assertComplete(page);
    assert.equal(await readFile(join(world.root, "note.txt"), "utf8"), "x\n");
  });
}

test("an answer that was streaming when the server died is asked for again", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "please go");
  await transcript(page).getByText(/w20\b/).waitFor();
  await world.restart("SIGKILL");
  await transcript(page).getByText("The server was restarted; the run goes on.").waitFor();
  await dialog(page, "Write").waitFor();
  await decide(page, "Approve");
  await done(page);
  await assertComplete(page);
});
