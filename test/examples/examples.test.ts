/**
 * Promise: orders, fees, holds, balances, statuses and reasons are those that a reader of the specification computes by
 * hand. The examples of this folder were written down from its text before the engine was asked; see test/README.md.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { groundsOf } from '../support/example_ground.ts'
import { Player } from '../support/example_player.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { farFromMidnight } from '../support/midnight.ts'
import { faultsOf, readSubjects } from '../support/worked_examples.ts'

t.setTimeout(600_000)
/** Examples played at once, so that their commits share flushes. */
const AT_ONCE = 8

const subjects = readSubjects()
const examples = subjects.flatMap((subject) => subject.examples)

t.test('every example is whole: known fields, citations, working, sums', async (t) => {
  t.ok(examples.length >= 178, `${examples.length} examples`)
  t.equal(new Set(examples.map(({ name }) => name)).size, examples.length, 'each has a name of its own')
  for (const example of examples) t.strictSame(faultsOf(example), [], example.name)
})

const directory = temporaryDirectory()
const { genesis, grounds } = groundsOf(examples)
const genesisPath = join(directory, 'genesis.json')
writeFileSync(genesisPath, genesis)
await farFromMidnight()
const exchange = await startExchange(join(directory, 'data'), [
  '--genesis', genesisPath, '--gateways', '1', '--grpc-thread', '0', '--chain', '0', '--sign-in-per-ip', '1000000',
  '--fee-tier-seconds', '86400',
])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})

/** Runs the jobs, a few at once, and gives their results in their order. */
async function together<Result>(jobs: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let job = next++; job < jobs.length; job = next++) results[job] = await jobs[job]!()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

/** Longest wait for the end of an exchange that answers no more. */
const END_MS = 10_000
const ended = exchange.ended.then((code): never => {
  const said = exchange.log.slice(-3).map((line) => JSON.stringify(line))
  throw new Error(`the exchange ended with ${code}: ${said.join(' ')}`)
})
ended.catch(() => undefined)

/** What the work gives. If it fails because the exchange ended, the error says why that did. */
async function whileUp<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, END_MS).unref())])
    throw error
  }
}

const players = examples.map((example, index) => new Player(exchange, example, grounds[index]!))
const isAlone = (index: number): boolean => examples[index]!.alone === true
const jobs = players.map((player, index) => async () => (isAlone(index) ? [] : player.play()))
const steps = await whileUp(together(jobs))
for (const [index, player] of players.entries()) if (isAlone(index)) steps[index] = await whileUp(player.play())
await whileUp(historyReached(exchange))
const ends = await whileUp(together(players.map((player) => () => player.end())))

let played = 0
for (const { subject, examples } of subjects) {
  void t.test(subject, async (t) => {
    for (const { name, working, steps: expected, orders, trades, book, otherBook, balances } of examples) {
      const number = played++
      await t.test(name, async (t) => {
        expected.forEach((step, index) => t.strictSame(steps[number]![index], step, `step ${index + 1}`))
        const other = otherBook === undefined ? {} : { otherBook }
        t.strictSame(ends[number], { orders, trades, book, ...other, balances }, working)
      })
    }
  })
}
