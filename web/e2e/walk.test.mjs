// Three tabs over two workspaces, at least five hundred steps of typing, switching, deciding and reloading. Whatever ran had
// been on screen, whole, in the tab where it was decided. The seed is printed; COUNTERSIGN_WALK_SEED plays a walk again.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openTab, projects, rest, startWorld } from "./world.mjs";

const STEPS = 500;
/** A walk on a slow machine may decide little in its first steps; it goes on until this many calls ran, or the steps are used up. */
const ENOUGH_CALLS = 8;
const MOST_STEPS = 4000;

/** What a call writes: lines that name it and say how many there are, so that a reader of the screen can tell whether all were there. */
const text = (name, lines) => Array.from({ length: lines }, (_, i) => `${name} line ${i + 1} of ${lines}\n`).join("");

const SCENARIO = `
[[script]]
prompt = '(?m)^run (c\\d+)$'
[[script.turn]]
call = [
  { tool = "Write", input = { file_path = "{{prompt.1}}x.txt", content = "{{prompt.1}}x line 1 of 2\\n{{prompt.1}}x line 2 of 2\\n" } },
  { tool = "Write", input = { file_path = "{{prompt.1}}y.txt", content = "{{prompt.1}}y line 1 of 1\\n" } },
]
[[script.turn]]
say = "Done."

[[script]]
[[script.turn]]
say = "Hm."
`;

/** Runs inside every page, before it: notes what is on the screen, frame by frame, and what of it a decision was sent upon. */
function record() {
  const lines = new Map();
  const rows = new Set();
  const kept = "walk";
  const least = 1;
  const note = (entry) => sessionStorage.setItem(kept, JSON.stringify([...JSON.parse(sessionStorage.getItem(kept) ?? "[]"), entry]));
  const isWithin = (inner, outer) => inner.height >= least && inner.top >= outer.top - 1 && inner.bottom <= Math.min(outer.bottom, innerHeight) + 1;
  const look = () => {
    requestAnimationFrame(look);
    const sheet = document.querySelector("dialog[open]");
    const frame = (sheet ?? document).querySelector(sheet ? '[aria-label="Exactly these"]' : '[aria-label="What will run"]');
    if (!frame || document.visibilityState !== "visible") return;
    const view = frame.getBoundingClientRect();
    if (sheet) {
      for (const row of frame.querySelectorAll("[data-request]")) if (isWithin(row.getBoundingClientRect(), view)) rows.add(row.dataset.request);
      return;
    }
    for (const code of frame.querySelectorAll("code")) {
      const [, name, line] = /^(c\d+\w?) line (\d+) of \d+$/.exec(code.textContent) ?? [];
      if (name && isWithin(code.getBoundingClientRect(), view)) lines.set(name, (lines.get(name) ?? new Set()).add(line));
    }
  };
  requestAnimationFrame(look);
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function sendAndNote(data) {
    const command = JSON.parse(data);
    if (command.command === "tool_approval_response" && command.approved) {
      note({ id: command.request_id, seen: Object.fromEntries([...lines].map(([name, all]) => [name, all.size])) });
    }
    for (const { request_id: id } of command.command === "approve_all" ? command.requests : []) note({ id, listed: rows.has(id) });
    return send.call(this, data);
  };
}

test("random walk: whatever ran had been on screen, whole, where it was decided", async (t) => {
  const seed = Number(process.env.COUNTERSIGN_WALK_SEED ?? Math.floor(Math.random() * 1e9));
  t.diagnostic(`seed ${seed}`);
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const world = await startWorld(t, { scenario: SCENARIO, workspaces: ["shop"] });
  const both = (await projects(world)).map(({ project_id: id }) => id);
  const first = await openTab(world, { prepare, viewport: { width: 1280, height: 800 } });
  const tabs = [first];
  for (const path of [`agent?project=${both[1]}`, "history"]) tabs.push(await openTab(world, { context: first.context(), path, prepare }));

  let count = 0;
  const submit = async (lines) => {
    const name = `c${(count += 1)}`;
    const input = { file_path: `${name}.txt`, content: text(name, lines) };
    await rest(world, "POST", "tools/calls", { tool_name: "Write", tool_input: input, session_id: pick(["one", "two"]), tool_use_id: name }, pick(both));
  };
  const actions = steps({ world, next, pick, both, submit, name: () => `c${(count += 1)}` });
  let ran = [];
  let step = 0;
  while (step < STEPS || (ran.length < ENOUGH_CALLS && step < MOST_STEPS)) {
    await pickWeighted(actions, next)(pick(tabs));
    step += 1;
    if (step >= STEPS && step % 100 === 0) ran = await callsThatRan(world, both);
  }

  ran = await callsThatRan(world, both);
  const decisions = (await Promise.all(tabs.map((page) => page.evaluate(() => JSON.parse(sessionStorage.getItem("walk") ?? "[]"))))).flat();
  t.diagnostic(`${step} steps, ${count} submissions, ${decisions.length} decisions, ${ran.length} calls ran`);
  for (const call of ran) {
    const how = JSON.stringify(decisions.filter(({ id }) => id === call.approval_id));
    assert.ok(wasSeen(call, decisions), `${call.tool_input.file_path} ran, and was not on screen, whole, where it was decided: ${how}; seed ${seed}`);
  }
  assert.ok(ran.length >= ENOUGH_CALLS, `only ${ran.length} calls ran: the walk has shown nothing; seed ${seed}`);
});

function prepare(page) {
  return page.addInitScript(record);
}

/** Whether some tab sent a yes to this call after it had shown all of it; in a list of many, after its row was shown. */
function wasSeen({ approval_id: id, tool_input: input }, decisions) {
  const name = input.file_path.replace(".txt", "");
  const lines = input.content.trimEnd().split("\n").length;
  return decisions.some((decision) => decision.id === id && (decision.listed === true || decision.seen?.[name] === lines));
}

async function callsThatRan(world, projectIds) {
  const executions = (await Promise.all(projectIds.map((project) => allExecutions(world, project)))).flat();
  return executions.filter(({ status }) => ["approved", "executing", "completed"].includes(status));
}

async function allExecutions(world, project) {
  const found = [];
  let cursor = null;
  do {
    const page = await rest(world, "GET", `tools/executions?limit=100${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`, undefined, project);
    found.push(...page.executions);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}

async function clickIfThere(page, locator) {
  if ((await locator.count()) === 0) return;
  const box = await locator.first().boundingBox({ timeout: 200 }).catch(() => null);
  if (box) await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

function button(page, label) {
  return page.getByRole("button", { name: label });
}

/** What a person may do next, with how often. Nothing waits for anything: that is the point. */
function steps({ world, next, pick, both, submit, name }) {
  const words = ["also add tests", "area", "a", "aaa", "reject", "j", "k", "ok", "car", "?"];
  return [
    [14, (page) => page.keyboard.type(pick(words))],
    [12, (page) => page.keyboard.press("a")],
    [9, (page) => page.keyboard.press("F6")],
    [8, (page) => page.keyboard.press("PageDown")],
    [5, (page) => page.keyboard.press(pick(["j", "k", "Tab", "Escape", "Enter"]))],
    [9, (page) => clickIfThere(page, page.locator('aside [role="dialog"]').getByRole("button", { name: "Approve", exact: true }))],
    [2, (page) => clickIfThere(page, button(page, "Reject"))],
    [4, (page) => clickIfThere(page, button(page, /^Approve all/))],
    [5, (page) => clickIfThere(page, button(page, /^Approve these/))],
    [2, (page) => clickIfThere(page, button(page, /waiting$/))],
    [3, (page) => clickIfThere(page, button(page, "Cancel"))],
    [7, () => submit(next() < 0.3 ? 70 : 3)],
    [3, () => rest(world, "POST", "chat/messages", { content: `run ${name()}`, executor: "local", permission_mode: "sdk" }, pick(both))],
    [6, (page) => clickIfThere(page, page.getByRole("link", { name: pick(["History", "Settings", "Rules", "Countersign", "New conversation"]) }))],
    [3, (page) => clickIfThere(page, page.getByRole("navigation", { name: "Conversations" }).getByRole("link").nth(1))],
    [3, (page) => page.getByLabel("Workspace").filter({ visible: true }).selectOption(pick(both), { timeout: 100 }).catch(() => {})],
    [4, (page) => page.getByLabel("Prompt").focus({ timeout: 100 }).catch(() => {})],
    [2, (page) => page.reload({ waitUntil: "commit" })],
  ];
}

function pickWeighted(actions, next) {
  let place = next() * actions.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, action] of actions) if ((place -= weight) < 0) return action;
  return actions[0][1];
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
