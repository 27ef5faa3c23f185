// What a test with the real Claude Code CLI needs: a server that can start it, a scripted model, and its own hands.
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { cli } from "./cell.mjs";
import { startWorld, TOKEN } from "./world.mjs";
import { BINARY } from "./places.mjs";

const MODE = "Review & Approve (CLI)";

/** What the CLI is told to leave alone; it has loopback only, and need not find that out. */
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

const PLAN =
  "# Move the settings\\n\\nThe file is read in **three** places.\\n\\n1. Read `settings.toml` once, in `main`\\n2. Hand it down\\n   - to the server\\n   - to the worker\\n3. Run the tests\\n\\n```sh\\ncargo test\\n```\\n\\nSee [the notes](https://example.com/notes).";

/** What the model says. What the CLI asks it beside the conversation comes first. */
const SCENARIO = `
[[script]]
system = '(?i)sentence-case title|Summarize this coding conversation|short title'
[[script.turn]]
say = '{"title": "A title"}'

[[script]]
prompt = '(?m)^write (\\S+)'
[[script.turn]]
say = "I write it."
call = { tool = "Write", input = { file_path = "{{prompt.1}}", content = "one\\ntwo\\n" } }
[[script.turn]]
say = "It said: {{result}}"

[[script]]
prompt = '(?m)^read (\\S+)'
[[script.turn]]
call = { tool = "Read", input = { file_path = "{{prompt.1}}" } }
[[script.turn]]
say = "It said: {{result}}"

[[script]]
prompt = '(?m)^run (.+)$'
[[script.turn]]
call = { tool = "Bash", input = { command = "{{prompt.1}}", description = "Runs it" } }
[[script.turn]]
say = "It said: {{result}}"

[[script]]
prompt = '(?m)^delegate'
[[script.turn]]
say = "Somebody else looks into it."
call = { tool = "Task", input = { description = "Run it", prompt = "run mkdir below", subagent_type = "general-purpose", run_in_background = false } }
[[script.turn]]
say = "The other one said: {{result}}"

[[script]]
prompt = '(?m)^note the whole list'
[[script.turn]]
call = { tool = "TodoWrite", input = { todos = [ { content = "Look", status = "completed", activeForm = "Looking" }, { content = "Sweep", status = "in_progress", activeForm = "Sweeping" } ] } }
[[script.turn]]
call = { tool = "Write", input = { file_path = "swept.txt", content = "one\\n" } }
[[script.turn]]
say = "It said: {{result}}"

[[script]]
prompt = '(?m)^note task by task'
[[script.turn]]
call = { tool = "TaskCreate", input = { subject = "Look", description = "Around", activeForm = "Looking" } }
[[script.turn]]
call = { tool = "TaskCreate", input = { subject = "Sweep", description = "All of it", activeForm = "Sweeping" } }
[[script.turn]]
call = { tool = "TaskUpdate", input = { taskId = "1", status = "completed" } }
[[script.turn]]
call = { tool = "TaskUpdate", input = { taskId = "2", status = "in_progress" } }
[[script.turn]]
call = { tool = "Write", input = { file_path = "swept.txt", content = "one\\n" } }
[[script.turn]]
say = "It said: {{result}}"

[[script]]
prompt = '(?m)^ask me'
[[script.turn]]
say = "Two things I cannot know."

[[script.turn.call]]
tool = "AskUserQuestion"
[[script.turn.call.input.questions]]
question = "Which library should format dates?"
header = "Library"
multiSelect = false
[[script.turn.call.input.questions.options]]
label = "date-fns"
description = "Small functions, one import each"
[[script.turn.call.input.questions.options]]
label = "Luxon"
description = "Time zones and durations built in; a larger bundle"
[[script.turn.call.input.questions]]
question = "Which browsers do we support?"
header = "Browsers"
multiSelect = true
[[script.turn.call.input.questions.options]]
label = "Firefox"
description = "The two latest versions"
[[script.turn.call.input.questions.options]]
label = "Safari"
description = "From version 17 on"
[[script.turn.call.input.questions.options]]
label = "Chrome"
description = "The two latest versions"

[[script.turn]]
say = "You said: {{result}}"

[[script]]
prompt = '(?m)^plan it'
[[script.turn]]
call = { tool = "EnterPlanMode", input = {} }
[[script.turn]]
call = { tool = "AskUserQuestion", input = { questions = [ { question = "Where is the plan to be kept?", header = "Place", multiSelect = false, options = [ { label = "Here", description = "In the workspace" }, { label = "There", description = "Where you say" } ] } ] } }
[[script.turn]]
[[script.turn.either]]
when = { result = '="(?<file>[^"]+\\.md)"' }
call = { tool = "Write", input = { file_path = "{{file}}", content = "${PLAN}" } }
[[script.turn]]
call = { tool = "ExitPlanMode", input = {} }
[[script.turn]]
name = "planned"
[[script.turn.either]]
when = { is_error = true, result = 'User rejected: (.+)' }
say = "I will: {{1}}"
call = { tool = "ExitPlanMode", input = {} }
next = "planned"
[[script.turn.either]]
say = "The plan: {{result}}"

[[script]]
prompt = '(?m)^what did I say'
[[script.turn]]
say = "I remember."
`;

/** Starts a server that can run the CLI. Further settings go into its environment. */
export async function startClaudeWorld(t, env = {}) {
  return startWorld(t, { scenario: SCENARIO, env: { ...QUIET, ...env, COUNTERSIGN_CLAUDE: cli() } });
}

/** Sends a prompt to the CLI under the gate. */
export async function sendToClaude(page, prompt) {
  await page.getByLabel("Permission mode").selectOption(MODE);
  await page.getByLabel("Prompt").fill(prompt);
  await page.getByRole("button", { name: "Send" }).click();
}

/** What a tool answered the model, in the order in which it heard it. */
export async function heardByModel(world) {
  const requests = await world.requests();
  const blocks = requests.flatMap(({ messages }) => messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])));
  const results = blocks.filter(({ type }) => type === "tool_result").map(({ content }) => textOf(content));
  return [...new Set(results)];
}

function textOf(content) {
  return typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("");
}

/** Where the CLI wants its plan to be: it tells the model. */
export async function planFile(world) {
  const [, file] = /(\/[^\s"]+\/plans\/[\w-]+\.md)/.exec(JSON.stringify(await world.requests())) ?? [];
  if (!file) throw new Error("nobody has said where the plan is to be");
  return file;
}

/** What stands in a file of the workspace; nothing where there is none. */
export async function written(world, name) {
  try {
    return await readFile(join(world.root, name), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** Runs a program in the workspace with an environment of its own, to its end. */
function finished(world, program, args, env) {
  const child = spawn(program, args, { cwd: world.root, env: { PATH: "/usr/bin:/bin", HOME: world.home, ...env } });
  child.stdin.end();
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve(said) : reject(new Error(`${program} ended with ${code}: ${said}`))));
  });
}

/** Gives the CLI settings of its own. */
export async function putSettings(world, settings) {
  await mkdir(join(world.home, ".claude"), { recursive: true });
  await writeFile(join(world.home, ".claude", "settings.json"), JSON.stringify(settings));
}

/** Puts our hook, and nothing else, into the CLI's settings. */
export async function installHook(world) {
  await finished(world, BINARY, ["hook", "install", "--yes", "--server", world.url, "--data", join(world.home, "data")], {});
}

/** The CLI as somebody starts it in a terminal: nothing of ours but what is in its settings. */
export async function claudeByHand(world, prompt) {
  const env = { ...QUIET, ANTHROPIC_API_KEY: "dummy", ANTHROPIC_BASE_URL: world.model, COUNTERSIGN_TOKEN: TOKEN };
  const said = await finished(world, cli(), ["--print", "--output-format=json", "--", prompt], env);
  return JSON.parse(said).result;
}
