// What an agent notes to do: seen as a list, followed live, and there again after a reload.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, send, startWorld, transcript } from "./world.mjs";

const SCENARIO = `
[[script]]
prompt = '^tidy up$'

[[script.turn]]
say = "Three things, one after the other."
call = { tool = "TodoWrite", input = { todos = [
  { content = "Read the settings in one place", status = "in_progress", activeForm = "Reading the settings" },
  { content = "Move the tests that read them twice", status = "pending", activeForm = "Moving the tests" },
  { content = "Ask somebody to look for what is left", status = "pending", activeForm = "Asking somebody" },
  { content = "Rename the folder", status = "cancelled", activeForm = "Renaming the folder" },
] } }

[[script.turn]]
call = { tool = "Write", input = { file_path = "settings.js", content = "export const settings = {};\\n" } }

[[script.turn]]
call = { tool = "TodoWrite", input = { todos = [
  { content = "Read the settings in one place", status = "completed", activeForm = "Reading the settings" },
  { content = "Move the tests that read them twice", status = "completed", activeForm = "Moving the tests" },
  { content = "Ask somebody to look for what is left", status = "in_progress", activeForm = "Asking somebody" },
  { content = "Rename the folder", status = "cancelled", activeForm = "Renaming the folder" },
] } }

[[script.turn]]
call = { tool = "Task", input = { description = "Look for the rest", prompt = "look for the rest", subagent_type = "general-purpose" } }

[[script.turn]]
say = "That is that."

[[script]]
prompt = '^look for the rest$'
[[script.turn]]
call = { tool = "TodoWrite", input = { todos = [
  { content = "Search", status = "completed" },
  { content = "Write down what is left", status = "in_progress", activeForm = "Writing down what is left" },
] } }
[[script.turn]]
call = { tool = "Write", input = { file_path = "left.txt", content = "nothing\\n" } }
[[script.turn]]
say = "Nothing is left."
`;

const states = async (list) => (await list.getByRole("listitem").allTextContents()).map((text) => /(To do|In progress|Done|Cancelled): /.exec(text)?.[1]);

test("the list of tasks stands over the prompt, changes as the agent goes on, and survives a reload", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  const tasks = page.getByRole("region", { name: "Tasks" });
  await send(page, "tidy up");
  await dialog(page, "Write").waitFor();
  await tasks.getByRole("button", { name: /0 of 3 done.*Reading the settings/ }).click();
  assert.deepEqual(await states(tasks), ["In progress", "To do", "To do", "Cancelled"]);
  await page.screenshot({ path: join(RESULTS, "todos.png") });
  await decide(page, "Approve");

  await tasks.getByRole("button", { name: /2 of 3 done.*Asking somebody/ }).waitFor();
  assert.deepEqual(await states(tasks), ["Done", "Done", "In progress", "Cancelled"]);
  assert.equal(await transcript(page).getByRole("list", { name: "Tasks" }).count(), 2, "each call is drawn as its list");
  await dialog(page, "Task").waitFor();
  await decide(page, "Approve");

  const childs = tasks.getByRole("button", { name: /subagent main\/general-purpose.*1 of 2 done.*Writing down what is left/ });
  await childs.waitFor();
  await dialog(page, "Write").waitFor();
  await page.reload();
  await childs.click();
  await tasks.getByRole("list", { name: "Tasks of main/general-purpose" }).getByText("Search").waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: join(RESULTS, "todos-dark.png") });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.reload();
  await page.getByRole("button", { name: "Minimise" }).click();
  await childs.click();
  await page.screenshot({ path: join(RESULTS, "todos-narrow.png") });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.reload();
  await decide(page, "Approve");
  await done(page);

  await childs.waitFor({ state: "detached" });
  await tasks.getByRole("button", { name: /2 of 3 done.*left off at: Ask somebody/ }).waitFor();
  await page.emulateMedia({ colorScheme: "light" });
  await page.screenshot({ path: join(RESULTS, "todos-ended.png") });
});
