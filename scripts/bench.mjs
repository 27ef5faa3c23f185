#!/usr/bin/env node
// Measures the release build on this machine: cold start, idle memory, page size, previews, approvals, searches, listeners, the SDK.
// It prints what it saw beside what we aim for, and asserts nothing: machines are noisy.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const binary = join(root, 'target/release/countersign')
const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
const clean = { PATH: '/usr/bin:/bin', HOME: folder }

/** Starts the server on a database, returns how long it took to listen and what it then holds. */
async function coldStart(data) {
  const started = process.hrtime.bigint()
  const args = ['serve', '--demo', '--listen', '127.0.0.1:0', '--root', folder, '--data', join(folder, data)]
  const server = spawn(binary, args, { env: clean, stdio: ['ignore', 'pipe', 'ignore'] })
  const line = await new Promise((resolve) => server.stdout.once('data', resolve))
  const milliseconds = Number(process.hrtime.bigint() - started) / 1e6
  const url = String(line).trim().replace('listening on ', '')
  await fetch(new URL('/healthz', url)).then((answer) => answer.text())
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  const megabytes = Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024
  const ended = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGTERM')
  await ended
  return { milliseconds, megabytes }
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

function bench(...args) {
  return JSON.parse(run(binary, 'bench', ...args))
}

function row(what, value, aim) {
  console.log(`${what.padEnd(52)} ${value.padStart(14)}   ${aim}`)
}

/** Calls through the gate beside as many bare rows on the same disk, on both databases. */
async function durability() {
  // Beside ours, which is for nobody else: PostgreSQL runs as a user of its own.
  const cluster = mkdtempSync(join(tmpdir(), 'countersign-postgres-'))
  const postgres = script('postgres', 'start', cluster).trim()
  try {
    for (const [name, at] of [['SQLite', (file) => join(folder, file)], ['PostgreSQL', () => postgres]]) {
      for (const at_once of [1, 64, 512]) {
        const count = ['--n', String(at_once === 1 ? 300 : 4096), '--c', String(at_once)]
        const floor = bench('approval', ...count, '--db', at(`floor-${at_once}.db`), '--floor')
        const ours = bench('approval', ...count, '--db', at(`ours-${at_once}.db`))
        const share = `${(ours.per_s / floor.per_s).toFixed(2)}x bare rows (${floor.per_s.toFixed(0)} /s)`
        const each = `${ours.commits_per_call.toFixed(2)} commits each, p50 ${(ours.p50_us / 1000).toFixed(1)} ms`
        row(`approvals on ${name}, ${at_once} at once, durable`, `${ours.per_s.toFixed(0)} /s`, `${share}, ${each}`)
      }
    }
    const pending = join(folder, 'pending.db')
    bench('pending', '--n', '100000', '--db', pending)
    // In a process of its own, so that it holds only what coming back takes.
    const back = bench('pending', '--n', '0', '--db', pending)
    row('100,000 requests wait: ready after a restart', `${back.ready_ms.toFixed(0)} ms`, `${back.rss_mb.toFixed(0)} MB at the most`)
    row('100,000 requests wait: the first page of 100', `${back.first_page_ms.toFixed(1)} ms`, '')
  } finally {
    script('postgres', 'stop', cluster)
    rmSync(cluster, { recursive: true, force: true })
  }
}

/** Event streams on one project, all of which hear of one request. */
function listeners() {
  const all = bench('listeners', '--n', '1000')
  const seen = `the first after ${all.first_ms.toFixed(1)} ms, ${all.saw_once} saw it exactly once`
  row('1,000 listeners, one request: the last sees it after', `${all.last_ms.toFixed(1)} ms`, seen)
  const after = `${(all.bytes_per_listener_after / 1024).toFixed(1)} KB after the request`
  row('1,000 listeners: memory of the server for each', `${(all.bytes_per_listener / 1024).toFixed(1)} KB`, after)
}

/** One stream through our SDK for the Claude Code CLI and through the Python one, where that can be had. */
function sdks() {
  const cli = join(folder, 'plays-the-cli')
  const streams = [['20,000 messages and 500 requests', 20_000], ['500 requests alone', 0]]
  const python = pythonSdk()
  for (const [what, messages] of streams) {
    const command = `exec '${binary}-bench' sdk-cli --messages ${messages} --asks 500`
    writeFileSync(cli, `#!/bin/sh\n${command}\n`, { mode: 0o755 })
    const ours = bench('sdk', '--cli', cli)
    const theirs = python && JSON.parse(run(python, join(root, 'scripts/bench-sdk.py'), cli))
    const beside = (number, of) => (theirs ? `Python SDK ${PYTHON_SDK}: ${of(number(theirs))}` : 'the Python SDK could not be had')
    const compare = (name, number, of) => row(`SDK, ${what}: ${name}`, of(number(ours)), beside(number, of))
    if (messages > 0) compare('messages', (m) => m.messages_per_s, (n) => `${n.toFixed(0)} /s`)
    compare('a request (p50)', (m) => m.ask_p50_us, (n) => `${n.toFixed(0)} us`)
    compare('a request (p99)', (m) => m.ask_p99_us, (n) => `${n.toFixed(0)} us`)
    compare('memory at the most', (m) => m.rss_mb, (n) => `${n.toFixed(1)} MB`)
  }
}

const PYTHON_SDK = '0.2.182'

/** Returns a Python that has the SDK, installed into our folder; nothing where there is no Python. */
function pythonSdk() {
  const venv = join(folder, 'python')
  const made = spawnSync('python3', ['-m', 'venv', venv]).status === 0
  const pip = ['-m', 'pip', 'install', '--quiet', `claude-agent-sdk==${PYTHON_SDK}`]
  const python = join(venv, 'bin/python')
  return made && spawnSync(python, pip).status === 0 ? python : undefined
}

function run(program, ...args) {
  const { stdout, stderr, status } = spawnSync(program, args, { env: clean, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

/** Glob and Grep beside ripgrep on 50,000 files: 500 folders of 100, a match in every 50th. In turns, as a busy machine is busy for both. */
function search() {
  const tree = join(folder, 'tree')
  const filler = 'let something = that_is(long, enough); // to take some looking through\n'.repeat(20)
  for (let at = 0; at < 500; at += 1) {
    const inner = join(tree, `area-${at % 25}`, `part-${at}`)
    mkdirSync(inner, { recursive: true })
    for (let n = 0; n < 100; n += 1) {
      const needle = n % 50 === 7 ? 'fn needle_in_the_hay() {}\n' : ''
      writeFileSync(join(inner, `file-${n}.${n % 4 ? 'rs' : 'txt'}`), filler + needle + filler)
    }
  }
  if (spawnSync('rg', ['--version']).status !== 0) spawnSync(join(root, 'scripts/apt'), ['ripgrep'])
  const found = spawnSync('rg', ['--version'], { encoding: 'utf8' })
  const version = found.status === 0 ? found.stdout.split('\n')[0] : undefined
  const same = ['--hidden', '--no-require-git', '--no-ignore-global', '--glob', '!.git']
  const cases = [
    ['Grep on 50,000 files', 'aim: under 1.2x', ['--grep', '--pattern', 'needle_in_[a-z_]+'], ['-l', ...same, 'needle_in_[a-z_]+', '.']],
    // Glob answers by age, which takes a look at every file it finds: this is the same work.
    ['Glob **/*.rs on 50,000 files, newest first', 'aim: under 1.2x', ['--pattern', '**/*.rs'], ['--files', '--sortr', 'modified', ...same, '--glob', '**/*.rs']],
    // And this is less: it looks at none, and answers in any order.
    ['Glob **/*.rs on 50,000 files, 37,500 found', 'in any order', ['--pattern', '**/*.rs'], ['--files', ...same, '--glob', '**/*.rs']],
    ['Glob **/*-7.* on 50,000 files, 500 found', 'in any order; aim: under 1.2x', ['--pattern', '**/*-7.*'], ['--files', ...same, '--glob', '**/*-7.*']],
  ]
  for (const [what, note, ours, theirs] of cases) {
    const times = { ours: [], theirs: [] }
    for (let turn = 0; turn < 5; turn += 1) {
      const measured = bench('search', '--root', tree, ...ours, '--rounds', '3')
      times.ours.push(measured.p50_us / 1000)
      for (let round = 0; version && round < 3; round += 1) {
        const started = process.hrtime.bigint()
        // Without a path rg would read from us.
        spawnSync('rg', theirs, { cwd: tree, maxBuffer: 1 << 28 })
        times.theirs.push(Number(process.hrtime.bigint() - started) / 1e6)
      }
    }
    const [mine, theirs50] = [median(times.ours), median(times.theirs)]
    const least = Math.min(...times.ours) / Math.min(...times.theirs)
    const beside = version ? `${(mine / theirs50).toFixed(2)}x ${version} (${theirs50.toFixed(0)} ms), ${least.toFixed(2)}x at best; ${note}` : 'no rg to compare with'
    row(`${what} (p50)`, `${mine.toFixed(0)} ms`, beside)
  }
}

function script(name, ...args) {
  const { stdout, stderr, status } = spawnSync(join(root, 'scripts', name), args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

try {
  const cold = []
  for (let round = 0; round < 7; round += 1) cold.push(await coldStart(`cold-${round}`))
  row('cold start of serve, new database (median of 7)', `${median(cold.map((c) => c.milliseconds)).toFixed(1)} ms`, 'aim: under 100 ms')
  row('idle memory of serve', `${median(cold.map((c) => c.megabytes)).toFixed(1)} MB`, 'aim: under 30 MB')

  const lines = Array.from({ length: 100_000 }, (_, n) => `line ${n} of a file that is long enough to matter`)
  writeFileSync(join(folder, 'old.txt'), lines.join('\n'))
  writeFileSync(join(folder, 'one.txt'), lines.with(50_000, 'changed').join('\n'))
  writeFileSync(join(folder, 'many.txt'), lines.map((line, n) => (n % 100 ? line : `${line}!`)).join('\n'))
  for (const [what, file] of [['one line', 'one.txt'], ['1 % of the lines', 'many.txt']]) {
    const found = bench('diff', '--old', join(folder, 'old.txt'), '--new', join(folder, file), '--rounds', '20')
    row(`preview of a 100,000-line file, ${what} changed (p50)`, `${(found.p50_us / 1000).toFixed(1)} ms`, 'aim: well under 1000 ms')
  }
  await durability()
  listeners()
  sdks()
  search()
  const verdict = bench('policy')
  row('verdict on a typical command, 200 rules (p50)', `${verdict.p50_us.toFixed(0)} us`, 'aim: under 100 us')
  row('verdict on a typical command, no rules (p50)', `${verdict.p50_us_no_rules.toFixed(0)} us`, `${(verdict.p50_us / verdict.p50_us_no_rules).toFixed(1)}x with 200 rules`)
  row('the answer from a table of known calls (p50)', `${verdict.p50_us_table.toFixed(2)} us`, `${(verdict.p50_us / verdict.p50_us_table).toFixed(0)}x with 200 rules`)
  spawnSync('npm', ['run', '--silent', 'size'], { cwd: join(root, 'web'), stdio: 'inherit' })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
