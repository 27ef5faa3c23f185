// The history: what was called, how it looks, who can use it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, rest, send, startWorld } from "./world.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const SCENARIO = `
[[script]]

[[script.turn]]
say = "I write it down."
call = { tool = "Write", input = { file_path = "note.txt", content = "buy milk\\n" } }

[[script.turn]]
call = { tool = "Bash", input = { command = "rm note.txt" } }

[[script.turn]]
call = { tool = "Read", input = { file_path = "note.txt" } }

[[script.turn]]
say = "Done."
`;

/** A note that was written, was not removed, and was read without asking. */
async function runOnce(page) {
  await send(page, "go");
  await dialog(page, "Write").waitFor();
  await decide(page, "Approve");
  await dialog(page, "Bash").waitFor();
  await decide(page, "Reject", "keep the note");
  await done(page);
}

function row(page, name) {
  return page.getByRole("list", { name: "Calls, newest first" }).getByRole("button", { name });
}

async function seriousViolations(page) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}

for (const colorScheme of ["light", "dark"]) {
  test(`every call is in the history, with what was seen and said, ${colorScheme}`, async (t) => {
    const world = await startWorld(t, { scenario: SCENARIO });
    const complaints = [];
    const prepare = (page) => {
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
    };
    const page = await openTab(world, { colorScheme, prepare });
    await runOnce(page);
    await page.getByRole("link", { name: "History" }).click();
    await row(page, /Read.*Low risk decided by the rules Completed where: Server/).waitFor();
    assert.equal(await row(page, /note.txt/).count(), 3);
    assert.deepEqual(await seriousViolations(page), []);
    await page.screenshot({ path: join(RESULTS, `history-${colorScheme}.png`) });

    await row(page, /Bash.*Rejected/).click();
    await page.getByText("keep the note", { exact: true }).waitFor();
    await row(page, /Write.*Completed/).click();
    await page.getByText("buy milk").first().waitFor();
    await page.getByText("New file").waitFor();
    assert.deepEqual(await seriousViolations(page), []);
    await page.screenshot({ path: join(RESULTS, `history-open-${colorScheme}.png`) });

    await page.reload();
    await page.getByText("New file").waitFor();
    await page.getByRole("link", { name: "open it" }).click();
    await done(page);
    assert.deepEqual(complaints, []);
  });
}

test("the filter is in the address, and back undoes it", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await runOnce(page);
  await page.getByRole("link", { name: "History" }).click();
  await page.getByLabel("Status").selectOption("Rejected");
  await row(page, /Write/).waitFor({ state: "detached" });
  await row(page, /Bash.*Rejected/).waitFor();
  await page.reload();
  await row(page, /Bash.*Rejected/).waitFor();
  assert.equal(await row(page, /Write/).count(), 0);
  await page.getByLabel("Risk").selectOption("Low risk");
  await page.getByText("No call fits this filter.").waitFor();
  await page.goBack();
  await row(page, /Bash.*Rejected/).waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await row(page, /Read/).waitFor();
  await page.getByLabel("Tool").fill("Write");
  await row(page, /Bash/).waitFor({ state: "detached" });
  assert.equal(await row(page, /Write/).count(), 1);
});

test("what happens elsewhere appears, but not beneath the pointer", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await runOnce(page);
  await page.getByRole("link", { name: "History" }).click();
  await row(page, /Bash.*Rejected/).hover();
  // Nobody is asked about this one, so nobody is told: the page looks by itself.
  await rest(world, "POST", "tools/calls", { tool_name: "Read", tool_input: { file_path: "later.txt" } });
  await page.getByRole("button", { name: "1 new call" }).waitFor();
  assert.equal(await row(page, /later.txt/).count(), 0);
  await page.getByRole("button", { name: "1 new call" }).click();
  await row(page, /later.txt.*Approved where: Caller/).waitFor();
  await page.mouse.move(0, 0);
  await rest(world, "POST", "tools/calls", { tool_name: "Bash", tool_input: { command: "touch later" } });
  await row(page, /touch later.*Waiting/).waitFor();
  await decide(page, "Reject");
  await row(page, /touch later.*Rejected/).waitFor();
});

test("many calls come in pages", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  for (let i = 0; i < 60; i++) {
    await rest(world, "POST", "tools/calls", { tool_name: "Read", tool_input: { file_path: `file-${i}.txt` } });
  }
  const page = await openTab(world, { path: "history" });
  await row(page, /file-59/).waitFor();
  assert.equal(await row(page, /file-/).count(), 50);
  await page.getByRole("button", { name: "Show more" }).click();
  await row(page, /file-0\./).waitFor();
  assert.equal(await row(page, /file-/).count(), 60);
  assert.equal(await page.getByRole("button", { name: "Show more" }).count(), 0);
});

test("it can be used with the keyboard alone", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await runOnce(page);
  await page.getByRole("link", { name: "History" }).click();
  await row(page, /Read/).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText("keep the note", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("keep the note", { exact: true }).waitFor({ state: "detached" });
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByText("New file").waitFor();
});

test("a phone can read it", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  await runOnce(page);
  await page.getByRole("link", { name: "History" }).click();
  await row(page, /Write.*Completed/).click();
  await page.getByText("New file").waitFor();
  await page.screenshot({ path: join(RESULTS, "history-phone.png") });
  await rest(world, "POST", "tools/calls", { tool_name: "Bash", tool_input: { command: "touch later" } });
  await page.getByRole("button", { name: "Minimise" }).click();
  await page.getByRole("button", { name: "1 waiting" }).waitFor();
  const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(needs <= has, `the page is ${needs} px wide on a screen of ${has}`);
});
