#!/usr/bin/env node
// Measures what a person feels at every call of Claude Code: the hook on one event, beside `/bin/true` and
// beside hooks in Python and Node.js that do nothing but read the event and answer it.
// By the hyperfine it is given (`bench-hook.mjs "$(scripts/hyperfine)"`), without one by the same loop for all.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const binary = join(root, 'target/release/countersign')
const folder = mkdtempSync(join(tmpdir(), 'countersign-hook-'))
const work = join(folder, 'work')
const data = join(folder, '.local/share/countersign')
const env = { PATH: '/usr/bin:/bin', HOME: folder }

const PYTHON = `
import json, sys
event = json.load(sys.stdin)
print(json.dumps({"hookSpecificOutput": {"hookEventName": event["hook_event_name"],
  "permissionDecision": "allow" if event["tool_name"] == "Read" else "ask"}}))
`
const NODE = `
const event = JSON.parse(require('fs').readFileSync(0, 'utf8'))
console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event.hook_event_name,
  permissionDecision: event.tool_name === 'Read' ? 'allow' : 'ask' } }))
`

function event(hook_event_name, tool_name, tool_input, more = {}) {
  const file = join(folder, `${hook_event_name}-${tool_name}.json`)
  const common = { session_id: 's', transcript_path: '/x', cwd: work, permission_mode: 'default' }
  writeFileSync(file, JSON.stringify({ ...common, hook_event_name, tool_name, tool_input, tool_use_id: 't', ...more }))
  return file
}

const RUNS = 200
const hyperfine = process.argv[2]

/** Milliseconds of each run of a command on an event. */
function times(command, input) {
  return hyperfine ? byHyperfine(command, input) : byLoop(command, input)
}

function byHyperfine(command, input) {
  const result = join(folder, 'times.json')
  const args = ['-N', '--warmup', '10', '--runs', String(RUNS), '--input', input, '--export-json', result, '--style', 'none']
  const { status, stderr } = spawnSync(hyperfine, [...args, command.join(' ')], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(readFileSync(result)).results[0].times.map((seconds) => seconds * 1000)
}

function byLoop([program, ...args], input) {
  const run = () => {
    const stdin = openSync(input)
    const started = process.hrtime.bigint()
    spawnSync(program, args, { env, stdio: [stdin, 'ignore', 'ignore'] })
    const milliseconds = Number(process.hrtime.bigint() - started) / 1e6
    closeSync(stdin)
    return milliseconds
  }
  for (let warm = 0; warm < 10; warm += 1) run()
  return Array.from({ length: RUNS }, run)
}

function row(what, command, input) {
  const sorted = times(command, input).toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.floor(sorted.length * share)].toFixed(1)
  console.log(`${what.padEnd(52)} ${`${at(0.5)} ms`.padStart(14)}   p90 ${at(0.9)} ms, least ${sorted[0].toFixed(1)} ms`)
}

try {
  mkdirSync(work)
  writeFileSync(join(folder, 'hook.py'), PYTHON)
  writeFileSync(join(folder, 'hook.cjs'), NODE)
  const read = event('PreToolUse', 'Read', { file_path: join(work, 'a.txt') })
  const bash = event('PreToolUse', 'Bash', { command: "git log --oneline -5 && rg -n 'TODO' src | head -20" })
  const write = event('PreToolUse', 'Write', { file_path: join(work, 'a.txt'), content: 'x\n' })
  const done = event('PostToolUse', 'Read', {}, { tool_response: { content: 'x'.repeat(10_000) } })
  const hook = [binary, 'hook']
  console.log(hyperfine ? 'the hook, measured by hyperfine' : 'the hook, measured by a loop in Node.js, which takes its time to start anything')
  row('/bin/true', ['/bin/true'], read)
  row('our hook: a read, allowed', hook, read)
  // As after a server has run here: its rules are looked at, too.
  const bench = spawnSync(binary, ['bench', 'approval', '--n', '20', '--db', join(folder, 'gate.db')], { env, encoding: 'utf8' })
  if (bench.status !== 0) throw new Error(bench.stderr)
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'countersign.db'), readFileSync(join(folder, 'gate.db')))
  row('our hook: a read, with the database of a server', hook, read)
  row('our hook: a pipeline of commands, allowed', hook, bash)
  row('our hook: a write, and no server there', [...hook, '--server', 'http://127.0.0.1:9'], write)
  row('our hook: a tool is done, nothing to report', hook, done)
  row('a hook in Python: the read', ['/usr/bin/env', 'python3', join(folder, 'hook.py')], read)
  row('a hook in Node.js: the read', [process.execPath, join(folder, 'hook.cjs')], read)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
