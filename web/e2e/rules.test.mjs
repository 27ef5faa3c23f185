// The rules page: what stands, changing it, and asking what it would do.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, send, startWorld, transcript } from "./world.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const SCENARIO = `
[[script]]

[[script.turn]]
call = { tool = "Bash", input = { command = "touch made.txt" } }

[[script.turn]]
say = "Done."
`;

async function seriousViolations(page) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id }) => id);
}

/** A row of the editor, counted from one. */
function row(page, place) {
  return page.getByRole("group", { name: `Rule ${place}`, exact: true });
}

async function addRule(page, place, effect, rule) {
  await page.getByRole("button", { name: "Add rule" }).click();
  await row(page, place).getByLabel("Rule", { exact: true }).fill(rule);
  await row(page, place).getByLabel("Effect").selectOption(effect);
}

function tab(page, name) {
  return page.getByRole("navigation", { name: "Rules" }).getByRole("link", { name });
}

async function save(page) {
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
}

test("a rule that is saved holds: the call runs without asking, and its use is counted", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await page.getByRole("link", { name: "Rules", exact: true }).click();
  await page.getByText(/No rules yet/).waitFor();
  assert.match(page.url(), /\/rules$/);
  await tab(page, "Edit").click();
  await addRule(page, 1, "Allow", "Bash(touch:*)");
  await row(page, 1).getByLabel("Why").fill("it only makes empty files");
  await save(page);

  await page.getByRole("link", { name: "Countersign" }).click();
  await send(page, "go");
  await done(page);
  assert.equal(await readFile(join(world.root, "made.txt"), "utf8"), "");
  assert.equal(await dialog(page, "Bash").count(), 0);

  await page.getByRole("link", { name: "Rules", exact: true }).click();
  const allow = page.getByRole("region", { name: /^Allow/ });
  await allow.getByText("Bash(touch:*)").waitFor();
  await allow.getByText("it only makes empty files").waitFor();
  await allow.getByText(/used once/).waitFor();
});

test("a rule that denies is never asked about, and one that is revoked does not hold", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world, { path: "rules/edit" });
  await addRule(page, 1, "Deny", "Bash(touch:*)");
  await save(page);
  await page.getByRole("link", { name: "Countersign" }).click();
  await send(page, "go");
  await done(page);
  await assert.rejects(readFile(join(world.root, "made.txt")), { code: "ENOENT" });

  await page.getByRole("link", { name: "Rules", exact: true }).click();
  await page.getByRole("button", { name: "Revoke: Bash(touch:*)" }).click();
  const sure = page.getByRole("button", { name: "Revoke it?: Bash(touch:*)" });
  await sure.click({ delay: 500 });
  await page.getByText(/No rules yet/).waitFor();
  await page.getByRole("link", { name: "Countersign" }).click();
  await send(page, "go");
  await dialog(page, "Bash").waitFor();
  await decide(page, "Approve");
  await done(page);
  await transcript(page).getByText("Done.").waitFor();
});

test("what the server does not take is said at the rule, and nothing is lost", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world, { path: "rules/edit" });
  await addRule(page, 1, "Allow", "Bash(ls:*)");
  await addRule(page, 2, "Allow", "Bash(cargo");
  await page.getByRole("button", { name: "Save" }).click();
  await row(page, 2).getByRole("alert").waitFor();
  assert.equal(await row(page, 1).getByRole("alert").count(), 0);
  assert.deepEqual(await seriousViolations(page), []);
  await page.screenshot({ path: join(RESULTS, "rules-refused.png") });
  await page.reload();
  assert.equal(await row(page, 2).getByLabel("Rule", { exact: true }).inputValue(), "Bash(cargo");
  await row(page, 2).getByLabel("Rule", { exact: true }).fill("Bash(cargo test:*)");
  await save(page);
});

test("of two who edit, the second sees what the first did and keeps the draft", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const ana = await openTab(world, { path: "rules/edit" });
  const ben = await openTab(world, { context: ana.context(), path: "rules/edit" });
  await addRule(ben, 1, "Allow", "Bash(ls:*)");
  await addRule(ana, 1, "Deny", "Bash(curl:*)");
  await save(ana);

  await ben.getByRole("button", { name: "Save" }).click();
  const note = ben.getByRole("alert", { name: "The rules have changed" });
  await note.getByText("Bash(curl:*)").waitFor();
  await note.getByRole("button", { name: "Reload, keep my draft" }).click();
  await save(ben);
  await tab(ben, "In force").click();
  await ben.getByRole("region", { name: /^Deny/ }).getByText("Bash(curl:*)").waitFor();
  await ben.getByRole("region", { name: /^Allow/ }).getByText("Bash(ls:*)").waitFor();
});

for (const colorScheme of ["light", "dark"]) {
  test(`a call can be tried with the draft and never runs, ${colorScheme}`, async (t) => {
    const world = await startWorld(t, { scenario: SCENARIO });
    const page = await openTab(world, { path: "rules/try", colorScheme });
    await page.getByLabel("Command line").fill("touch tried.txt && ls");
    await page.keyboard.press("Enter");
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByRole("heading", { name: "It would wait for you" }).waitFor();
    const parts = answer.getByRole("table", { name: "Commands in this line" }).getByRole("row");
    assert.equal(await parts.count(), 3, "a head and two commands");
    await answer.getByRole("region", { name: "Explanation" }).waitFor();
    assert.deepEqual(await seriousViolations(page), []);
    await page.screenshot({ path: join(RESULTS, `rules-try-${colorScheme}.png`) });

    await answer.getByRole("button", { name: /^Add to draft/ }).first().click();
    await page.getByText(/With your unsaved draft/).waitFor();
    await page.getByRole("button", { name: "What would this do?" }).click();
    await answer.getByRole("heading", { name: "It would run without asking" }).waitFor();
    await assert.rejects(readFile(join(world.root, "tried.txt")), { code: "ENOENT" });
    await page.reload();
    assert.equal(await page.getByLabel("Command line").inputValue(), "touch tried.txt && ls");
  });
}

test("a draft is tried on what was decided, and says where it goes against it", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "go");
  await dialog(page, "Bash").waitFor();
  await decide(page, "Reject");
  await done(page);

  await page.getByRole("link", { name: "Rules", exact: true }).click();
  await tab(page, "Edit").click();
  await addRule(page, 1, "Allow", "Bash(touch:*)");
  await tab(page, "Try on history").click();
  await page.getByRole("button", { name: "Try on history" }).click();
  const outcome = page.getByRole("region", { name: "Outcome" });
  await outcome.getByText(/would go against what a person decided/).waitFor();
  const first = outcome.getByRole("list", { name: "What changes" }).getByRole("listitem").first();
  await first.getByText("a person rejected it").waitFor();
  assert.deepEqual(await seriousViolations(page), []);
});

test("what a workspace's file allows holds once it is trusted, and only as it was trusted", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const file = join(world.root, "countersign.toml");
  await writeFile(file, "[permissions]\nallow = ['Bash(touch:*)']\ndeny = ['Bash(curl:*)']\n");
  const page = await openTab(world, { path: "rules" });
  const banner = page.getByRole("region", { name: /^Not trusted: .*countersign\.toml$/ });
  await banner.getByText("Bash(touch:*)").waitFor();
  assert.equal(await banner.getByText("Bash(curl:*)").count(), 0, "what it denies holds already");
  assert.deepEqual(await seriousViolations(page), []);
  await page.screenshot({ path: join(RESULTS, "rules-untrusted.png") });
  await banner.getByRole("button", { name: "Trust this content" }).click();
  await page.getByText(/^Trusted/).waitFor();
  await banner.waitFor({ state: "hidden" });

  await page.getByRole("link", { name: "Countersign" }).click();
  await send(page, "go");
  await done(page);
  assert.equal(await readFile(join(world.root, "made.txt"), "utf8"), "");

  await writeFile(file, "[permissions]\nallow = ['Bash(touch:*)', 'Bash(rm:*)']\n");
  await page.getByRole("link", { name: "Rules", exact: true }).click();
  await banner.getByText("Bash(rm:*)").waitFor();
  await page.getByRole("link", { name: "Countersign" }).click();
  await send(page, "go");
  await dialog(page, "Bash").waitFor();
  await decide(page, "Reject");
  await done(page);
});

test("a phone has room for the rules", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world, { path: "rules/edit", viewport: { width: 380, height: 740 }, isMobile: true, hasTouch: true });
  await addRule(page, 1, "Ask", "WebFetch");
  await save(page);
  for (const name of ["In force", "Edit", "What would this do?", "Try on history"]) {
    await tab(page, name).click();
    const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(needs <= has, `${name} is ${needs} px wide on a screen of ${has}`);
  }
});
