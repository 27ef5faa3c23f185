// Decisions that reach further than one call, and calls that are changed before they run.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { decide, dialog, done, openTab, send, startWorld } from "./world.mjs";

const TWICE = `
[[script]]

[[script.turn]]
call = { tool = "Bash", input = { command = "touch one.txt" } }

[[script.turn]]
expect = { is_error = false }
call = { tool = "Bash", input = { command = "touch one.txt" } }

[[script.turn]]
say = "Both done."
`;

const ONCE = `
[[script]]

[[script.turn]]
call = { tool = "Bash", input = { command = "touch asked.txt" } }

[[script.turn]]
say = "Done."
`;

const WRITE = `
[[script]]

[[script.turn]]
call = { tool = "Write", input = { file_path = "note.txt", content = "from the model\\n" } }

[[script.turn]]
say = "Done."
`;

async function approveAlways(page, where) {
  const card = dialog(page, "Bash");
  await card.getByRole("button", { name: /Approve and don.t ask again/ }).click();
  const proposals = card.getByRole("group", { name: /Don.t ask again for/ }).getByRole("radio");
  assert.equal(await proposals.first().isChecked(), true, "the narrowest is chosen");
  await card.getByRole("radio", { name: where }).check();
  await card.getByRole("button", { name: `Approve, and add the rule ${where}` }).click();
}

for (const where of ["in this conversation", "in this project"]) {
  test(`approved ${where}, the same call is not asked about again`, async (t) => {
    const world = await startWorld(t, { scenario: TWICE });
    const page = await openTab(world);
    await send(page, "go");
    await dialog(page, "Bash").waitFor();
    await approveAlways(page, where);
    await done(page);
    await readFile(join(world.root, "one.txt"));

    await page.getByRole("link", { name: "Rules", exact: true }).click();
    const allow = page.getByRole("region", { name: /^Allow/ });
    await allow.getByText(where === "in this project" ? "project" : "this conversation", { exact: true }).waitFor();
    await allow.getByText(/from approval/).waitFor();
  });
}

test("a rule for the project holds in the next conversation, one for a conversation does not", async (t) => {
  for (const [where, asks] of [["in this conversation", true], ["in this project", false]]) {
    const world = await startWorld(t, { scenario: ONCE });
    const page = await openTab(world);
    await send(page, "go");
    await dialog(page, "Bash").waitFor();
    await approveAlways(page, where);
    await done(page);
    await page.getByRole("link", { name: "Countersign" }).click();
    await send(page, "go");
    if (asks) {
      await dialog(page, "Bash").waitFor();
      await decide(page, "Reject");
    }
    await done(page);
  }
});

test("an edited command runs instead of the one that was asked", async (t) => {
  const world = await startWorld(t, { scenario: ONCE });
  const page = await openTab(world);
  await send(page, "go");
  const card = dialog(page, "Bash");
  await card.getByRole("button", { name: "Edit first" }).click();
  await card.getByRole("textbox", { name: "Command" }).fill("touch mine.txt");
  await decide(page, "Approve edited");
  await done(page);
  await readFile(join(world.root, "mine.txt"));
  await assert.rejects(readFile(join(world.root, "asked.txt")), { code: "ENOENT" });
});

test("an edited file has the content that the person wrote", async (t) => {
  const world = await startWorld(t, { scenario: WRITE });
  const page = await openTab(world);
  await send(page, "go");
  const card = dialog(page, "Write");
  await card.getByRole("button", { name: "Edit first" }).click();
  await card.getByRole("textbox", { name: "Content" }).fill("from the person\n");
  await decide(page, "Approve edited");
  await done(page);
  assert.equal(await readFile(join(world.root, "note.txt"), "utf8"), "from the person\n");
  assert.match(JSON.stringify((await world.requests()).at(-1).messages.at(-1)), /from the person/, "the model is told");
});

test("a file that changes while its request waits is not overwritten, but asked about again", async (t) => {
  const world = await startWorld(t, { scenario: WRITE });
  const file = join(world.root, "note.txt");
  const page = await openTab(world);
  await send(page, "go");
  const card = dialog(page, "Write");
  await card.getByText("New file").waitFor();
  await writeFile(file, "from somebody else\n");
  await decide(page, "Approve");
  await card.getByText(/^Asked again:/).waitFor();
  assert.equal(await readFile(file, "utf8"), "from somebody else\n");
  assert.match(await card.getByRole("region", { name: /Changes to/ }).textContent(), /from somebody else.*from the model/);
  await decide(page, "Approve");
  await done(page);
  assert.equal(await readFile(file, "utf8"), "from the model\n");
});

test("an edit that makes it riskier is asked again, with what the agent had asked for", async (t) => {
  const world = await startWorld(t, { scenario: ONCE });
  const page = await openTab(world);
  await send(page, "go");
  const card = dialog(page, "Bash");
  await card.getByRole("button", { name: "Edit first" }).click();
  await card.getByRole("textbox", { name: "Command" }).fill("rm -rf /etc/hostname");
  await decide(page, "Approve edited");
  await card.getByText(/^Asked again:/).waitFor();
  await card.getByText("High risk").waitFor();
  await card.getByText(/this is not what the agent asked for/).click();
  assert.match(await card.getByRole("region", { name: "What the agent asked for" }).textContent(), /touch asked\.txt/);
  assert.equal(await card.getByRole("button", { name: /don.t ask again/ }).count(), 0, "high risk is asked every time");
  await decide(page, "Reject");
  await done(page);
});

test("an edit that a rule denies is refused with the reason, and can be mended", async (t) => {
  const world = await startWorld(t, { scenario: ONCE });
  const page = await openTab(world, { path: "rules/edit" });
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("group", { name: "Rule 1" }).getByLabel("Rule", { exact: true }).fill("Bash(curl:*)");
  await page.getByRole("group", { name: "Rule 1" }).getByLabel("Effect").selectOption("Deny");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();

  await page.getByRole("link", { name: "Countersign" }).click();
  await send(page, "go");
  const card = dialog(page, "Bash");
  await card.getByRole("button", { name: "Edit first" }).click();
  const field = card.getByRole("textbox", { name: "Command" });
  await field.fill("curl https://elsewhere.example");
  await decide(page, "Approve edited");
  await card.getByRole("status").getByText(/denied|not allowed|refused/i).waitFor();
  assert.equal(await field.inputValue(), "curl https://elsewhere.example");
  await field.fill("touch mine.txt");
  await decide(page, "Approve edited");
  await done(page);
  await readFile(join(world.root, "mine.txt"));
});
