/**
 * Promise: `npm run replay -- settlement` works both roots of a batch out of the journal alone, the same as the exchange's own way, and
 * says whether they are those that stand on the chain.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { EVENT_LAYOUTS, EventType, eventTypeOf } from '../../core/layout/event.ts'
import { userId } from '../../core/layout/ids.ts'
import { decode, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { settlement } from '../../core/replay/settlement.ts'
import { openSource } from '../../core/replay/steps.ts'
import { balancesOf } from '../../core/settlement/balances.ts'
import { balanceLeaf, tradeLeaf } from '../../core/settlement/leaves.ts'
import { RootBuilder } from '../../core/settlement/merkle.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, makeJournal, postCommand, startMatcher, type Matcher } from '../support/journal.ts'
import { seedOf } from '../suite/rounds.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function command(matcher: Matcher, type: CommandType, values: Record<string, string | number>): Record<string, unknown> {
  postCommand(matcher, 0, type, { session: -1, ...values })
  matcher.turn()
  return answersOf(matcher, 0)[0]!
}

/** Root of all trades of the journal so far, the exchange's way. */
function tradesOf(dataDir: string): RootBuilder {
  const builder = new RootBuilder()
  const { steps, replayer: { state } } = openSource(dataDir)
  const user = (account: unknown): string => userId(readAccount(state, account as number).createdSequence, account as number)
  for (const { events } of steps) {
    const views = viewsOf(new Uint8Array(events).buffer)
    for (let at = 0; at < views.i32.length; at += RECORD_WORDS) {
      if (eventTypeOf(views.u32[at]!) !== EventType.FILL) continue
      const fill = decode(EVENT_LAYOUTS[EventType.FILL]!, views, at) as Record<string, any>
      const { sequence, index, pair, price, lots, quote, takerAccount, makerAccount, takerFee, makerFee, time } = fill
      builder.add(tradeLeaf({
        sequence, index, price, lots, quote, takerFee, makerFee, time, taker: user(takerAccount), maker: user(makerAccount),
        pair: state.genesis.pairs[pair]!.id,
      }))
    }
  }
  return builder
}

t.setTimeout(600_000)

t.test('a journal of fills', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const seed = seedOf()
  t.comment(`seed ${seed}`)
  const { database } = makeJournal(dataDir, { seed, batches: 40, commands: 40, families: true })
  await database.close()
  const matcher = startMatcher(dataDir)
  const { state } = matcher.sequencer
  t.match(command(matcher, CommandType.OPEN_SETTLEMENT, { batch: 1 }), { code: 0 })
  const balances = new RootBuilder()
  for (const leaf of balancesOf(state, 1)) balances.add(balanceLeaf(leaf))
  const trades = tradesOf(dataDir)
  t.ok(balances.count > 0 && trades.count > 0, `${balances.count} balances, ${trades.count} trades`)
  const found = settlement(dataDir, 1, undefined, () => undefined)
  t.match(found, {
    batch: 1, from: 1, trades: trades.count, tradesRoot: `0x${hex(trades.root())}`, balances: balances.count,
    balancesRoot: `0x${hex(balances.root())}`, confirmed: null, equal: null,
  })
  const roots = { tradesRoot: hex(trades.root()), balancesRoot: hex(balances.root()), txHash: '22'.repeat(32), block: 77 }
  t.match(command(matcher, CommandType.CONFIRM_SETTLEMENT, { batch: 1, ...roots }), { code: 0 })
  t.match(settlement(dataDir, 1, undefined, () => undefined), { confirmed: { block: 77 }, equal: true })
  command(matcher, CommandType.OPEN_SETTLEMENT, { batch: 2 })
  const second = settlement(dataDir, 2, undefined, () => undefined)
  t.match(second, { from: found.through + 1, trades: 0, tradesRoot: `0x${'00'.repeat(32)}` })
  command(matcher, CommandType.CONFIRM_SETTLEMENT, { batch: 2, ...roots })
  await matcher.database.close()

  const tool = join(import.meta.dirname, '..', '..', 'core', 'replay', 'main.ts')
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', tool, 'settlement', dataDir, ...words], {
      encoding: 'utf8',
    })
  const wrong = run('--batch', '2')
  t.equal(wrong.status, 1, 'other roots stand on the chain')
  t.match(JSON.parse(wrong.stdout), { equal: false, batch: 2 })
  t.equal(run('--batch', '1').status, 0)
  t.match(run('--batch', '3'), { status: 2, stderr: /opens no batch 3/ })
  t.match(run('--batch', 'x'), { status: 2, stderr: /--batch takes the number/ })
})
