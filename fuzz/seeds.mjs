// Writes the red team's rows as seeds: fuzz/corpus/TARGET/. Data only; nothing of it is run.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const fixtures = join(here, '../crates/countersign-core/tests/fixtures/redteam')

function seed(target, text) {
  const folder = join(here, 'corpus', target)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, createHash('sha1').update(text).digest('hex')), text)
}

for (const name of ['commands', 'contextual']) {
  for (const line of readFileSync(join(fixtures, `${name}.jsonl`), 'utf8').trim().split('\n')) {
    const { input, given } = JSON.parse(line)
    seed('intake', input.__raw_json ?? JSON.stringify(input))
    if (typeof input.command === 'string') seed('shell', input.command)
    if (typeof input.patch === 'string') seed('patch', input.patch)
    const { allow = [], ask = [], deny = [] } = given?.rules ?? {}
    const rules = [...allow.map((it) => `+${it}`), ...ask.map((it) => `?${it}`), ...deny.map((it) => `-${it}`)]
    if (typeof input.command === 'string') seed('policy', `${rules.join('\n')}\n\n${input.command}`)
    if (rules.length > 0) {
      for (const rule of [...allow, ...ask, ...deny]) seed('rule', rule)
      const lists = JSON.stringify({ permissions: { allow, ask, deny } })
      seed('rule', lists)
      seed('rule', `[permissions]\nallow = ${JSON.stringify(allow)}\nask = ${JSON.stringify(ask)}\ndeny = ${JSON.stringify(deny)}\n`)
    }
  }
}
seed('rule', '[[rule]]\nid = "a"\neffect = "ask"\ntool = "Bash"\nargv = ["npm", ["publish", "pack"]]\nrest = "any"\nexpires = 2027-01-01\nmatch = ["npm pack"]\nnot_match = ["npm test"]\n')
