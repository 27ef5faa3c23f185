// A prompt, a proposal, a decision: the reason for all of this.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { decide, dialog, done, openTab, send, startWorld, transcript } from "./world.mjs";

const SCENARIO = `
chunk = 6
pace_ms = 5

[[script]]
prompt = 'write a note'

[[script.turn]]
say = "I will write **your note** down, word by word, so that nothing is forgotten."
call = { tool = "Write", input = { file_path = "note.txt", content = "Remember the milk.\\nAnd the bread.\\n" } }

[[script.turn]]
[[script.turn.either]]
when = { is_error = true, result = '^User rejected: use a different name$' }
say = "Then I use a different name."
call = { tool = "Write", input = { file_path = "other.txt", content = "Remember the milk.\\n" } }

[[script.turn.either]]
when = { is_error = false }
say = "The note is written."

[[script.turn]]
expect = { is_error = false }
say = "The other note is written."
`;

test("an approved file has exactly the content that was shown", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "please write a note");
  await transcript(page).getByText("I will write").waitFor();
  const card = dialog(page, "Write");
  await card.getByText("New file").waitFor();
  assert.match(await card.getByRole("region", { name: /Changes to/ }).textContent(), /Remember the milk\..*And the bread\./);
  await assert.rejects(readFile(join(world.root, "note.txt")), { code: "ENOENT" });

  await decide(page, "Approve");
  await done(page);
  await card.waitFor({ state: "hidden" });
  assert.equal(await readFile(join(world.root, "note.txt"), "utf8"), "Remember the milk.\nAnd the bread.\n");
  await transcript(page).getByText("The note is written.").waitFor();
  assert.match(page.url(), /\/agent\/.+/);
});

test("a rejection reaches the model in the person's words, and the model adapts", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "please write a note");
  await dialog(page, "Write").waitFor();
  await decide(page, "Reject", "use a different name");
  await dialog(page, "Write").getByText("other.txt").first().waitFor();
  await decide(page, "Approve");
  await done(page);

  assert.equal(await readFile(join(world.root, "other.txt"), "utf8"), "Remember the milk.\n");
  await assert.rejects(readFile(join(world.root, "note.txt")), { code: "ENOENT" });
  const asked = JSON.stringify(await world.requests());
  assert.match(asked, /User rejected: use a different name/);
  await transcript(page).getByText(/Rejected by/).waitFor();
});
