// The settings switch governs the page's own runs, and what the page says is what happens.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { decide, dialog, done, openTab, rest, send, startWorld, until } from "./world.mjs";

const SCENARIO = `
[[script]]
prompt = '(?m)^write (\\S+)'
[[script.turn]]
call = { tool = "Write", input = { file_path = "{{prompt.1}}", content = "written\\n" } }
[[script.turn]]
say = "Written."
`;

const written = (world, name) => readFile(join(world.root, name), "utf8").catch(() => null);
const mode = (page) => page.getByLabel("Permission mode").inputValue();
const banner = (page) => page.getByText(/^Approvals are off/);

test("the switch in the settings governs this page", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await page.getByText("Nothing runs until you say so.").waitFor();
  await rest(world, "PATCH", "", { settings: { tool_approval_enabled: false } });
  await banner(page).waitFor();
  await page.getByText("Calls run without asking.", { exact: true }).waitFor();
  assert.equal(await page.getByText("Nothing runs until you say so.").count(), 0);
  assert.equal(await mode(page), "bypassPermissions");
  await send(page, "write a.txt");
  await done(page);
  assert.equal(await written(world, "a.txt"), "written\n", "what the banner says is what happened");

  await rest(world, "PATCH", "", { settings: { tool_approval_enabled: true } });
  await banner(page).waitFor({ state: "hidden" });
  await until(async () => (await mode(page)) === "sdk", "the conversation asks again");
  await send(page, "write b.txt");
  await dialog(page, "Write").waitFor();
  assert.equal(await written(world, "b.txt"), null);
  await decide(page, "Approve");
  await done(page, 2);
});

test("a mode that the person chose holds against the switch, and the banner says so", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  await rest(world, "PATCH", "", { settings: { tool_approval_enabled: false } });
  const page = await openTab(world);
  await page.getByLabel("Permission mode").selectOption("Review & Approve (SDK)");
  await page.getByText("This conversation still asks").waitFor();
  await send(page, "write a.txt");
  await dialog(page, "Write").waitFor();
  assert.equal(await written(world, "a.txt"), null);
  await decide(page, "Approve");
  await done(page);
  await page.reload();
  await page.getByText("Written.").waitFor();
  assert.equal(await mode(page), "sdk", "the conversation keeps its mode");
  await page.getByText("This conversation still asks").waitFor();
  await send(page, "write b.txt");
  await dialog(page, "Write").waitFor();
  await decide(page, "Approve");
  await done(page, 2);

  // Another conversation has chosen nothing.
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByText("Calls run without asking.", { exact: true }).waitFor();
  assert.equal(await mode(page), "bypassPermissions");
  await page.getByLabel("Permission mode").selectOption("Review & Approve (SDK)");
  await page.reload();
  await page.getByText("This conversation still asks").waitFor();
  assert.equal(await mode(page), "sdk", "chosen and not yet sent, it survives a reload");
});
