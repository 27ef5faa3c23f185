// The way back: what a call did to a file is shown the other way round, and put back.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, send, startWorld } from "./world.mjs";

const SCENARIO = `
[[script]]

[[script.turn]]
say = "I change the price, and make a note."
call = { tool = "Edit", input = { file_path = "shop.js", old_string = "price = 12", new_string = "price = 0" } }

[[script.turn]]
call = { tool = "Write", input = { file_path = "note.txt", content = "cheap now\\n" } }

[[script.turn]]
say = "Done."
`;

test("a run is undone from the history, after a look at what that does", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const file = (name) => join(world.root, name);
  writeFileSync(file("shop.js"), "const price = 12;\nconst name = 'tea';\n");
  const page = await openTab(world);
  await send(page, "make it cheap");
  for (const tool of ["Edit", "Write"]) {
    await dialog(page, tool).waitFor();
    await decide(page, "Approve");
    await dialog(page, tool).waitFor({ state: "detached" });
  }
  await done(page);
  assert.match(readFileSync(file("shop.js"), "utf8"), /price = 0/);

  await page.goto(`${world.url}history`);
  await page.getByRole("button", { name: /Edit.*shop\.js.*Completed/ }).click();
  await page.getByRole("button", { name: "Undo the whole run…" }).click();
  const sheet = page.getByRole("dialog", { name: "Undo the whole run" });
  await sheet.getByText("const price = 12;").waitFor();
  await page.screenshot({ path: join(RESULTS, "undo.png") });
  await sheet.getByRole("button", { name: "Put back 2 files" }).click();
  await sheet.getByText("2 files are as they were before.").waitFor();
  assert.equal(readFileSync(file("shop.js"), "utf8"), "const price = 12;\nconst name = 'tea';\n");
  assert.equal(existsSync(file("note.txt")), false);
});
