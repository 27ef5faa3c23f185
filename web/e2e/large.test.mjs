// What is long is shown to its end, and does not stop the page.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { RESULTS } from "./places.mjs";
import { decide, dialog, done, openTab, readToEnd, send, startWorld, transcript, until } from "./world.mjs";

const LINES = 100_000;
/** Generous: machines are shared. A page that hangs takes many seconds. */
const PROMPT_MS = 2000;

/** More than go with a request: 1,000 at the start and 200 at the end do. */
const WRITTEN = 3_500;

const SCENARIO = `
[[script]]
prompt = 'write'

[[script.turn]]
call = { tool = "Write", input = { file_path = "long.txt", content = "${Array.from({ length: WRITTEN }, (_, i) => `line ${i + 1} of many\\n`).join("")}" } }

[[script.turn]]
say = "Written."

[[script]]
prompt = 'edit'

[[script.turn]]
call = { tool = "Edit", input = { file_path = "big.txt", old_string = "line 50000 of many", new_string = "line 50000, edited" } }

[[script.turn]]
say = "Edited."

[[script]]
prompt = 'command'

[[script.turn]]
call = { tool = "Bash", input = { command = "${Array.from({ length: 200 }, (_, i) => `echo step ${i + 1} >> steps.txt`).join("\\n")}" } }

[[script.turn]]
say = "Ran."

[[script]]
prompt = 'talk'

[[script.turn]]
say = "${Array.from({ length: 120 }, (_, i) => `Paragraph ${i + 1}.`).join("\\n\\n")}"
`;

/** How long the page takes to come to its next frame. */
function frame(page) {
  return page.evaluate(() => {
    const start = performance.now();
    return new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now() - start)));
  });
}

test("one line edited in a huge file is shown at once, and the page stays quick", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const file = join(world.root, "big.txt");
  await writeFile(file, Array.from({ length: LINES }, (_, i) => `line ${i + 1} of many\n`).join(""));
  const page = await openTab(world);
  await send(page, "edit");
  const card = dialog(page, "Edit");
  await card.getByText(/50000, edited/).waitFor();
  assert.ok((await frame(page)) < PROMPT_MS);
  await page.getByLabel("Feedback").fill("typing works");
  assert.ok((await frame(page)) < PROMPT_MS);
  await decide(page, "Approve");
  await done(page);
  assert.match(await readFile(file, "utf8"), /\nline 49999 of many\nline 50000, edited\nline 50001 of many\n/);
});

/** The numbers of the lines that the card shows, in their order. */
async function linesShown(card) {
  const text = await card.getByRole("region", { name: /^Changes to/ }).textContent();
  return [...text.matchAll(/line (\d+) of many/g)].map((match) => Number(match[1]));
}

const count = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test("what was left out of a long diff comes on request, until all of it is shown", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "write");
  const card = dialog(page, "Write");
  const first = card.getByRole("button", { name: "Show 2,303 lines left out" });
  await first.waitFor();
  // Three of the thousand are the head of the diff.
  assert.deepEqual(await linesShown(card), [...count(1, 997), ...count(WRITTEN - 199, WRITTEN)]);
  await card.getByText("2,303 lines of this change are not shown.").waitFor();
  await first.scrollIntoViewIfNeeded();
  await page.screenshot({ path: `${RESULTS}left-out.png` });

  await page.route("**/diff?*", (route) => route.abort(), { times: 1 });
  await first.click();
  await card.getByRole("alert").getByText(/could not be loaded/).waitFor();
  await first.click();
  await card.getByText("1,303 lines of this change are not shown.").waitFor();
  assert.deepEqual(await linesShown(card), [...count(1, 1997), ...count(WRITTEN - 199, WRITTEN)]);
  // What came stands where the button stood, and one reads on from there.
  assert.ok(await card.getByText("line 998 of many").evaluate((line) => line.getBoundingClientRect().top < innerHeight));
  assert.ok((await frame(page)) < PROMPT_MS);
  await page.screenshot({ path: `${RESULTS}left-out-begun.png` });

  await card.getByRole("button", { name: "Show next 1,000" }).click();
  await card.getByRole("button", { name: "Show next 303" }).click();
  const whole = card.getByText("All 3,503 lines of this diff are shown.");
  await whole.waitFor();
  assert.deepEqual(await linesShown(card), count(1, WRITTEN));
  assert.equal(await card.getByText(/left out|are not shown/).count(), 0);
  assert.ok((await frame(page)) < PROMPT_MS);
  await whole.scrollIntoViewIfNeeded();
  await page.screenshot({ path: `${RESULTS}left-out-whole.png` });
  await decide(page, "Approve");
  await done(page);
  assert.equal((await readFile(join(world.root, "long.txt"), "utf8")).split("\n").length, WRITTEN + 1);
});

test("a command taller than its box is whole, and says how much of it is below", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const page = await openTab(world);
  await send(page, "command");
  const card = dialog(page, "Bash");
  const more = card.getByRole("button", { name: /About [\d,]+ more lines below/ });
  await more.waitFor();
  const text = await card.getByRole("region", { name: "Command" }).textContent();
  assert.equal(text.match(/echo step \d+/g).length, 400, "once as it is written, once taken apart");
  assert.ok(Number(/[\d,]+/.exec(await more.textContent())[0].replaceAll(",", "")) > 150);
  const approve = page.getByRole("button", { name: "Approve", exact: true });
  await until(() => approve.isEnabled(), "it no longer rests");
  await approve.click();
  await card.getByText("Scroll to the end first.").waitFor();
  await readToEnd(page);
  await card.getByRole("group", { name: "What will run" }).evaluate((body) => body.scrollTo(0, body.scrollHeight));
  await more.waitFor({ state: "hidden" });
  await decide(page, "Approve");
  await done(page);
  assert.equal((await readFile(join(world.root, "steps.txt"), "utf8")).split("\n").length, 201);
});

/** How far the end of the transcript is from view, in pixels. */
function distanceToEnd(page) {
  return transcript(page).evaluate((log) => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight));
}

test("a long conversation stays at its end, unless one scrolls up to read", async (t) => {
  const world = await startWorld(t, { scenario: `chunk = 12\npace_ms = 5\n${SCENARIO}` });
  const page = await openTab(world);
  await send(page, "talk");
  await transcript(page).getByText("Paragraph 40.").waitFor();
  await transcript(page).evaluate((log) => log.scrollBy(0, -400));
  const latest = page.getByRole("button", { name: "Latest" });
  await latest.waitFor();
  const place = await transcript(page).evaluate((log) => log.scrollTop);
  await done(page);
  assert.equal(await transcript(page).evaluate((log) => log.scrollTop), place, "what is being read does not move");
  await latest.click();
  await until(async () => (await distanceToEnd(page)) <= 1, "the end is in view");

  await page.reload();
  await done(page);
  await until(async () => (await distanceToEnd(page)) <= 1, "the end is in view after a reload");
});
