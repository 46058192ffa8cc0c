/**
 * Promise: who is woken by an alert of perpetuals, managed markets or money in and out finds what to do: in the alert itself, and in the
 * table of data/ops/README.md, which names only alerts and commands that there are. That metrics named there exist is in
 * scenario/operator.test.ts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { COMMANDS } from '../../gateway/operator/commands.ts'
import { OCCASIONAL_METRICS } from '../../gateway/operator/metrics.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../data/ops', file), 'utf8')
const rules = read('alerts.yml').split('- alert: ').slice(1).map((rule) => ({ name: /^\w+/.exec(rule)![0], rule }))
const runbook = read('README.md')
const rows = [...runbook.matchAll(/^\| (Ringbook[^|]*) \|[^|]+\|[^|]+\|$/gm)].flatMap(([, names]) => names!.split(', '))
const metrics = [...OCCASIONAL_METRICS.map(({ name }) => name), 'exchange_liquidations_', 'exchange_maker_leases']
const about = rules.filter(({ rule }) => metrics.some((name) => rule.includes(name)))

t.test('every alert has its row, and every row its alert', async (t) => {
  t.ok(about.length >= 13, about.map(({ name }) => name).join(' '))
  for (const { name, rule } of about) {
    t.ok(rows.includes(name), `the table has ${name}`)
    t.match(rule, /\n +action: \S/, `${name} says what to do`)
  }
  for (const name of rows) t.ok(rules.some((rule) => rule.name === name), `there is an alert ${name}`)
})

t.test('every command that is named is one', async (t) => {
  const texts = [runbook.replaceAll('`npm run operator -- --help`', ''), ...about.map(({ rule }) => rule)].join('\n')
  const words = 'perps|insurance|liquidations|holders|limits|pairs|launches|withdrawals|deposits|chain|settlement'
  const calls = new RegExp(`(?:\`|operator -- |then )((${words}) \\w+)`, 'g')
  const named = [...texts.matchAll(calls)].map(([, call]) => call!)
  t.ok(new Set(named).size >= 8, named.join(', '))
  const isCommand = (call: string): boolean =>
    COMMANDS.some(({ name }) => name === call.split(' ').slice(0, name.split(' ').length).join(' '))
  for (const call of new Set(named)) t.ok(isCommand(call), call)
})
