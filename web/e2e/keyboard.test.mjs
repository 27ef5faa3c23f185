// Everything without a mouse.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { dialog, done, focusIsInCard, moveIn, openTab, startWorld, transcript, until } from "./world.mjs";

const SCENARIO = `
[[script]]

[[script.turn]]
call = { tool = "Write", input = { file_path = "first.txt", content = "1\\n" } }

[[script.turn]]
call = { tool = "Write", input = { file_path = "second.txt", content = "2\\n" } }

[[script.turn]]
expect = { result = '^User rejected: another name$', is_error = true }
call = { tool = "Bash", input = { command = "rm first.txt" } }

[[script.turn]]
say = "That was all."
`;

/** The request is there, has the focus, and no longer rests: the person decides with keys, and is still in the card. */
async function ready(page, tool, text) {
  await dialog(page, tool).getByText(text).first().waitFor();
  await until(() => page.getByRole("button", { name: "Approve", exact: true }).isEnabled(), "the buttons are awake");
  await until(() => focusIsInCard(page), "the dialog has the focus");
}

function focusedName(page) {
  return page.evaluate(() => document.activeElement?.textContent);
}

test("prompt, approve, reject and confirm a high risk, all by keys", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await until(() => page.getByLabel("Prompt").evaluate((field) => field === document.activeElement), "the prompt has the focus");
  await page.keyboard.type("two lines");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("please");
  await page.keyboard.press("Enter");

  await dialog(page, "Write").getByText("first.txt").first().waitFor();
  await dialog(page, "Write").getByText("moves into this card").waitFor();
  assert.equal(await focusIsInCard(page), false, "nobody has moved into it");
  await moveIn(page);
  assert.notEqual(await focusedName(page), "Approve");
  await page.keyboard.press("Escape");
  await dialog(page, "Write").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "1 waiting" }).focus();
  await page.keyboard.press("Enter");
  await dialog(page, "Write").waitFor();
  await moveIn(page);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
  await page.keyboard.press("a");

  await ready(page, "Write", "second.txt");
  await page.keyboard.press("r");
  await page.keyboard.type("another name");
  await page.keyboard.press("Control+Enter");

  await ready(page, "Bash", "rm first.txt");
  await dialog(page, "Bash").getByText("High risk").waitFor();
  await page.keyboard.press("a");
  await until(async () => (await focusedName(page)).endsWith("Approve"), "the key only went to the button");
  assert.equal(await dialog(page, "Bash").isVisible(), true);
  assert.equal(await readFile(join(world.root, "first.txt"), "utf8"), "1\n");
  await page.keyboard.press("Enter");

  await done(page);
  await transcript(page).getByText("That was all.").waitFor();
  await assert.rejects(readFile(join(world.root, "first.txt")), { code: "ENOENT" });
  await assert.rejects(readFile(join(world.root, "second.txt")), { code: "ENOENT" });
});
