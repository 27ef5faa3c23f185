// The settings of a workspace: who is asked, and for how long. What one tab changes, all of them show.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { dialog, openTab, rest, startWorld } from "./world.mjs";

const SCENARIO = `
[[script]]
[[script.turn]]
call = { tool = "Write", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Done."
`;

const banner = (page) => page.getByText("Approvals are off: calls run without asking.");

const picture = (page, name) => page.screenshot({ path: join(RESULTS, `settings-${name}.png`) });

test("approvals go off after a second word, and every tab says so at once", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  const other = await openTab(world, { context: page.context() });
  await page.getByRole("link", { name: "Settings" }).click();
  const approvals = page.getByRole("switch", { name: "Approvals" });
  assert.equal(await approvals.getAttribute("aria-checked"), "true");
  await picture(page, "on");
  await approvals.click();
  const sheet = page.getByRole("dialog", { name: /Switch approvals off/ });
  await picture(page, "confirm");
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "hidden" });
  assert.equal(await banner(other).count(), 0);

  await approvals.click();
  await sheet.getByRole("button", { name: "Switch approvals off" }).click();
  await Promise.all([banner(page).waitFor(), banner(other).waitFor()]);
  await page.getByText(/Last changed by admin/).waitFor();
  await picture(page, "off");
  const { session_id: unasked } = await rest(world, "POST", "chat/messages", { content: "write", executor: "local" });
  await other.goto(`${world.url}agent/${unasked}`);
  await other.getByText(/^Run complete/).waitFor();
  assert.equal(await readFile(join(world.root, "a.txt"), "utf8"), "a", "a run that names no mode asks nobody");

  await approvals.click();
  await Promise.all([banner(page).waitFor({ state: "hidden" }), banner(other).waitFor({ state: "hidden" })]);
  await page.getByRole("checkbox", { name: /Refuse runs that ask nobody/ }).click();
  await page.getByText("People are always asked.").waitFor();
  await other.goto(`${world.url}agent`);
  await other.getByLabel("Permission mode").selectOption("Auto Execute");
  await other.getByText(/approvals are on/).waitFor();
});

test("time limits are kept, and hold for the next request", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world, { path: "settings" });
  await page.getByLabel("Medium risk").fill("7200");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Time limits saved").waitFor();
  await rest(world, "POST", "chat/messages", { content: "write", executor: "local" });
  const card = dialog(page, "Write");
  await card.getByText(/Expires in 1:5\d:\d\d/).waitFor();
  await page.reload();
  assert.equal(await page.getByLabel("Medium risk").inputValue(), "7200");
});

test("what the server was started with is shown, and what it keeps on stays on", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO, env: { TOOL_APPROVAL_ENABLED: "true" } });
  const page = await openTab(world, { path: "settings", colorScheme: "dark" });
  await page.getByText("TOOL_APPROVAL_ENABLED=true").waitFor();
  assert.ok(await page.getByRole("switch", { name: "Approvals" }).isDisabled());
  await picture(page, "kept-dark");
  const phone = await openTab(world, { path: "settings", viewport: { width: 390, height: 800 } });
  await phone.getByText("TOOL_APPROVAL_ENABLED=true").waitFor();
  await picture(phone, "kept-narrow");
});
