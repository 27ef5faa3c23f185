// What a browser test needs: the real server, a scripted model, a real browser, and an end to all of them.
// Tests speak to the page by role and label only, and wait for conditions, never for time.
import { spawn } from "node:child_process";
import { mkdtemp, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

import { BINARY, CHROMIUM, RESULTS } from "./places.mjs";

export const TOKEN = "e2e-token-of-no-value";
const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-gpu",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/**
 * Starts a server on an empty workspace. `scenario` (TOML) gives it a scripted model of its own;
 * without one it plays the demo. `env` is added to the server's environment. `workspaces` names further folders that it
 * serves. Everything ends with the test `t`.
 */
export async function startWorld(t, { scenario, env = {}, workspaces = [] } = {}) {
  const home = await realpath(await mkdtemp(join(tmpdir(), "countersign-e2e-")));
  const root = join(home, "workspace");
  const roots = [root, ...workspaces.map((name) => join(home, name))];
  for (const folder of roots) await mkdir(folder);
  await mkdir(RESULTS, { recursive: true });
  const children = [];
  const cleanups = [];
  t.after(async () => {
    for (const cleanup of cleanups) await cleanup();
    for (const child of children.toReversed()) await end(child);
    await rm(home, { recursive: true, force: true });
  });

  const model = scenario === undefined ? null : await startModel(children, home, scenario);
  const extra = model === null ? env : { ...env, ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: "dummy" };
  const args = [...roots.flatMap((folder) => ["--root", folder]), "--data", join(home, "data"), "--token", TOKEN, ...(model === null ? ["--demo"] : [])];
  const serve = (listen) => start(children, ["serve", "--listen", listen, ...args], home, extra);
  const url = await serve("127.0.0.1:0");
  /** Ends the server by a signal and starts another one at the same address, on the same data. */
  const restart = async (signal) => {
    await end(children.pop(), signal);
    await serve(new URL(url).host);
  };

  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS });
  cleanups.push(() => browser.close());
  return { home, root, roots, url, model, browser, restart, requests: () => modelRequests(model) };
}

async function startModel(children, home, scenario) {
  const file = join(home, "scenario.toml");
  await writeFile(file, scenario);
  const url = await start(children, ["model", "--scenario", file, "--listen", "127.0.0.1:0"], home, {});
  return url.replace(/\/$/, "");
}

/** Starts the binary with an empty environment and returns the address it says it listens on. */
function start(children, args, home, extra) {
  const child = spawn(BINARY, args, { env: { PATH: process.env.PATH, HOME: home, ...extra }, cwd: home });
  children.push(child);
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`countersign ${args[0]} ended with ${code}: ${said}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const address = /^listening on (\S+)$/.exec(line)?.[1];
      if (address) resolve(address);
    });
  });
}

function end(child, signal = "SIGTERM") {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.removeAllListeners("exit");
    child.once("exit", resolve);
    child.kill(signal);
  });
}

/** The bodies that the model was asked with, oldest first. */
async function modelRequests(model) {
  const response = await fetch(`${model}/requests`);
  return (await response.json()).requests.map(({ body }) => body);
}

/** One call of the REST surface, as a program makes it. Returns the body; anything but a success is an error. */
export async function rest(world, method, path, body, project = "default") {
  const response = await fetch(`${world.url}my/projects/${project}/${path}`.replace(/\/$/, ""), {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

/** The workspaces of the server, its first one first. */
export async function projects(world) {
  const response = await fetch(`${world.url}my/projects`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return (await response.json()).projects;
}

/** A client on somebody's machine: takes the project's calls. `next` waits for the next one of an event. */
export async function connectClient(t, world, id, more = "") {
  const ending = new AbortController();
  t.after(() => ending.abort());
  const response = await fetch(`${world.url}my/projects/default/chat/stream?client_id=${id}${more}`, {
    headers: { authorization: `Bearer ${TOKEN}`, accept: "text/event-stream" },
    signal: ending.signal,
  });
  if (!response.ok) throw new Error(`the stream was answered ${response.status}`);
  // Piped here, not at the first `next`: a body that nobody has locked is cancelled when its response is
  // collected as garbage.
  const events = eventsOf(response.body.pipeThrough(new TextDecoderStream()));
  const next = async (name) => {
    for (;;) {
      const { value, done: isOver } = await events.next();
      if (isOver) throw new Error(`the stream ended without ${name}`);
      if (value.name === name) return value.data;
    }
  };
  return { next, leave: () => ending.abort() };
}

async function* eventsOf(chunks) {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const field = (name) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
      if (field("event")) yield { name: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

/** A tab that is signed in and connected. With `context` it shares the browser's cookies of another tab. */
export async function openTab(world, { context, path = "agent", prepare, ...options } = {}) {
  const owner = context ?? (await world.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options }));
  // A machine that is busy with other tests may stand still for a while.
  owner.setDefaultTimeout(60_000);
  const page = await owner.newPage();
  await prepare?.(page);
  if (!context) await page.goto(`${world.url}agent?token=${TOKEN}`);
  if (context || path !== "agent") await page.goto(`${world.url}${path}`);
  await connected(page);
  return page;
}

export function connected(page) {
  return page.getByText("Connected", { exact: true }).waitFor({ state: "attached" });
}

export async function send(page, prompt) {
  await page.getByLabel("Prompt").fill(prompt);
  await page.getByRole("button", { name: "Send" }).click();
}

export function dialog(page, tool) {
  return page.getByRole("dialog", { name: tool });
}

/** Of two that wait, brings this one up. Parallel calls ask in any order. */
export async function bringUp(page, tool) {
  const card = dialog(page, tool);
  if (!(await card.isVisible())) await page.getByRole("button", { name: "Next request" }).click();
  await card.waitFor();
}

/** Decides the request on screen. The buttons rest at first; the click waits until they do not. */
export async function decide(page, word, feedback) {
  if (feedback) await page.getByLabel("Feedback").fill(feedback);
  await page.getByRole("button", { name: word, exact: true }).click();
}

/** Pages through what is to be approved, as a person does with the keyboard, until its end was in view. */
export async function readToEnd(page) {
  const approve = page.getByRole("button", { name: /Approve/ }).and(page.locator("[data-missing]"));
  const body = page.getByRole("group", { name: "What will run" });
  while ((await approve.count()) > 0) {
    await body.focus();
    await page.keyboard.press("PageDown");
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }
}

/** Moves into the card on screen, as a person does with the keyboard, and waits until it no longer rests. */
export async function moveIn(page) {
  await page.keyboard.press("F6");
  await until(() => focusIsInCard(page), "the card has the focus");
  await until(() => page.getByRole("button", { name: "Approve", exact: true }).isEnabled(), "the buttons are awake");
}

export function focusIsInCard(page) {
  return page.evaluate(() => document.querySelector('aside [role="dialog"]')?.contains(document.activeElement) ?? false);
}

export function transcript(page) {
  return page.getByRole("log", { name: "Conversation" });
}

/** The end of the run that the tab shows; `runs` when there were several. */
export function done(page, runs = 1) {
  return transcript(page).getByText(/^Run complete/).nth(runs - 1).waitFor();
}

/** Waits until a condition on our side of the browser holds. */
export async function until(condition, what) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
