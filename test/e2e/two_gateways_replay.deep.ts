/**
 * Promise: a journal written by a run with two gateway threads replays to the same digest and the same events, from the genesis and from
 * a snapshot at any batch.
 *
 * The live run proves itself: every batch carries the checksum of the events before it, and the matcher that wrote them is not the
 * code path that reads them here. Snapshots are written at random batches of a replay, loaded again, and continued.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { openJournal } from '../../core/journal/file.ts'
import { readBatches } from '../../core/journal/reader.ts'
import { fromGenesis } from '../../core/recovery/recover.ts'
import { createReplayer } from '../../core/recovery/replayer.ts'
import { verify } from '../../core/replay/verify.ts'
import { diff } from '../../core/replay/diff.ts'
import { loadSnapshot, writeSnapshot } from '../../core/snapshot/file.ts'
import { createClient } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const ORDERS = 1500
const CUTS = 50
t.setTimeout(600_000)

/** Orders, cancels and replaces of one trader, on a connection of its own. */
async function load(baseUrl: string, trader: Trader, pair: string, random: () => number): Promise<void> {
  const client = createClient({ baseUrl, signer: trader.signer })
  const open: string[] = []
  for (let i = 0; i < ORDERS / 4; i++) {
    const price = (0.3 + Math.floor(random() * 40 - 20) * 0.0001).toFixed(4)
    const dice = random()
    try {
      if (dice < 0.2 && open.length > 0) await client.CancelOrder({ orderId: open.shift()! })
      else if (dice < 0.3 && open.length > 0) open.push((await client.ReplaceOrder({ orderId: open.shift()!, price })).orderId)
      else {
        const side = random() < 0.5 ? 'BUY' : 'SELL'
        const { orderId } = await client.CreateOrder({ tradingPairId: pair, orderType: 'LIMIT', side, quantity: '20', price })
        open.push(orderId)
      }
    } catch (error) {
      if ((error as { status?: number }).status === undefined) throw error
    }
  }
}

t.test('a run with two gateways replays to the same digest and events', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} npm run test:deep -- test/e2e/two_gateways_replay.deep.ts`)
  const random = createPrng(SEED)
  const [directory, cuts] = [temporaryDirectory(), temporaryDirectory()]
  const exchange = await startExchange(directory, ['--gateways', '2', '--snapshot-every', '400'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
    removeDirectory(cuts)
  })
  const traders = await Promise.all(Array.from({ length: 4 }, () => newTrader(exchange.baseUrl, 5)))
  const pair = await pairOf(traders[0]!.client, 'SEI/USDC')
  await Promise.all(traders.map((trader) => load(exchange.baseUrl, trader, pair, random.unit)))
  const alongside = verify(directory, () => undefined)
  t.ok(alongside.commands > ORDERS / 2, 'verify works while the exchange runs')
  t.equal(await exchange.stop(), 0)

  const whole = verify(directory, () => undefined)
  t.ok(whole.snapshots.length >= 2, `${whole.snapshots.length} snapshots`)
  t.ok(
    whole.snapshots.every(({ verdict }) => verdict === 'ok'),
    'every snapshot of the follower is what replay gives',
  )
  t.match(diff(directory, directory).what, /^equal/)

  const database = openJournal(directory, true)
  const batches = [...readBatches(database, { sequence: 1, checksum: 0 })].map((batch) => ({
    ...batch,
    records: Buffer.from(batch.records),
  }))
  const at = new Set<number>()
  while (at.size < Math.min(CUTS, batches.length - 2)) at.add(1 + random.below(batches.length - 2))
  const { replayer, genesis } = fromGenesis(database)
  const different: number[] = []
  for (const [index, batch] of batches.entries()) {
    if (index === 0) continue
    replayer.batch(batch)
    if (!at.has(index)) continue
    writeSnapshot(cuts, replayer.state, genesis, replayer.place.checksum, replayer.events)
    const { state, info } = loadSnapshot(cuts, replayer.state.clock[CLOCK.SEQUENCE]!)
    const tail = createReplayer(state, { sequence: info.sequence + 1, checksum: info.batchChecksum }, info.eventsChecksum)
    for (const later of batches.slice(index + 1)) tail.batch(later)
    if (tail.events !== whole.eventsChecksum || stateDigest(tail.state) !== whole.digest) different.push(info.sequence)
  }
  t.strictSame(different, [], `snapshot and tail equal the full replay at ${at.size} random cut points`)
  t.equal(stateDigest(replayer.state), whole.digest)
  t.equal(replayer.events, whole.eventsChecksum)
})
