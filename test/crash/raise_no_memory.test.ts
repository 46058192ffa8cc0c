/**
 * Promise: a limit that was raised and that this machine has no memory for is not in force, and nothing is journaled of it: the exchange
 * starts with the limits it has, and a start on a machine that has the memory puts it in force.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { RAISABLE } from '../../core/layout/limits.ts'
import { lastSequence } from '../../core/journal/reader.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import type { FromThread } from '../../core/threads.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand } from '../support/journal.ts'
import { realStart } from '../support/real_start.ts'

/** What the machine is said to give at most, bytes: enough for the limits of before. */
const MOST = 2 ** 29
const ORDERS = 2 ** 20

/** Starts with a machine that gives no more. */
function startSmall(dataDir: string, say: (message: FromThread) => void): ReturnType<typeof realStart> {
  const Real = globalThis.SharedArrayBuffer
  globalThis.SharedArrayBuffer = new Proxy(Real, {
    construct: (target, [bytes]: [number]) => {
      if (bytes > MOST) throw new RangeError('Array buffer allocation failed')
      return new target(bytes)
    },
  })
  try {
    return realStart(dataDir, { say })
  } finally {
    globalThis.SharedArrayBuffer = Real
  }
}

t.test('a machine that has not got the memory', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const first = realStart(dataDir)
  const { orders } = first.sequencer.state.genesis.limits
  postCommand(first, 0, CommandType.RAISE_LIMIT, { session: -1, limit: RAISABLE.findIndex(([name]) => name === 'orders'), value: ORDERS })
  first.turn()
  t.match(answersOf(first, 0).at(-1), { code: 0 })
  const last = lastSequence(first.database)
  await first.database.close()

  const said: FromThread[] = []
  for (const start of ['one', 'another']) {
    const small = startSmall(dataDir, (message) => said.push(message))
    t.equal(small.sequencer.state.genesis.limits.orders, orders, `${start} start: what was`)
    t.equal(lastSequence(small.database), last, 'nothing is journaled')
    await small.database.close()
  }
  t.match(said.find(({ type }) => type === 'log'), { level: 'error', message: /^limits that were raised are not in force: .*no memory/ })
  const trading = startSmall(dataDir, () => undefined)
  openAccount(trading, 1, 'ann')
  checkInvariants(trading.sequencer.state)
  await trading.database.close()

  const large = realStart(dataDir)
  t.equal(large.sequencer.state.genesis.limits.orders, ORDERS, 'with the memory it is in force')
  checkInvariants(large.sequencer.state)
  await large.database.close()
  const again = realStart(dataDir)
  t.equal(again.sequencer.state.genesis.limits.orders, ORDERS, 'and stays')
  await again.database.close()
})
