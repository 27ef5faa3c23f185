// Two tabs, twenty calls at once, decided in any order.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { done, openTab, send, startWorld, transcript } from "./world.mjs";

const CALLS = 20;
const SCENARIO = `
[[script]]

[[script.turn]]
say = "All at once."
call = { tool = "Bash", input = { command = "echo {{i}} >> ran.log" }, repeat = ${CALLS} }

[[script.turn]]
say = "All came back."
`;

test("of twenty parallel calls each approved one runs once, and both tabs agree", async (t) => {
  const world = await startWorld(t, { scenario: SCENARIO });
  const first = await openTab(world);
  await send(first, "go");
  await first.getByText(`1 of ${CALLS}`).waitFor();
  const second = await openTab(world, { context: first.context(), path: new URL(first.url()).pathname.slice(1) });
  await second.getByText(`1 of ${CALLS}`).waitFor();

  const seed = Math.floor(Math.random() * 1e9);
  t.diagnostic(`seed ${seed}`);
  await Promise.all([decideAll(first, random(seed)), decideAll(second, random(seed + 1))]);
  await Promise.all([done(first), done(second)]);

  const [seen, alsoSeen] = [await outcomes(first), await outcomes(second)];
  assert.deepEqual(seen, alsoSeen);
  assert.equal(seen.size, CALLS);
  const approved = [...seen].filter(([, outcome]) => outcome === "Approved").map(([call]) => call);
  const log = await readFile(join(world.root, "ran.log"), "utf8").catch(() => "");
  assert.deepEqual(log.split("\n").filter(Boolean).map(Number).toSorted(byNumber), approved.toSorted(byNumber));
});

/** Decides what this tab shows until nothing waits. The other tab may be faster: then the card is gone. */
async function decideAll(page, next) {
  const waiting = page.getByRole("dialog");
  while ((await waiting.count()) > 0) {
    const word = next() < 0.6 ? "Approve" : "Reject";
    if (next() < 0.5) await page.getByRole("button", { name: "Next request" }).click({ timeout: 2000 }).catch(ignore);
    await page.getByRole("button", { name: word, exact: true }).click({ timeout: 2000 }).catch(ignore);
  }
}

function ignore() {
  // Nothing left to click: the other tab decided it.
}

/** What the transcript says of each call. */
async function outcomes(page) {
  const text = await transcript(page).textContent();
  const found = text.matchAll(/echo (\d+) >> ran\.log\W*(Approved|Rejected|Failed)/g);
  return new Map([...found].map(([, call, outcome]) => [Number(call), outcome]));
}

function byNumber(a, b) {
  return a - b;
}

/** Mulberry32: small, and the same for the same seed. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
