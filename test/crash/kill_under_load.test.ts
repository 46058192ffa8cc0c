/**
 * Promise: every acknowledged order is there after kill -9, and nothing is half applied.
 *
 * Again and again: start on the same directory, compare with the ledger of acknowledgements, trade, kill at a random moment. The load
 * keeps resting orders (acknowledged and not cancelled: must be open), cancels (acknowledged: must be gone) and crossing orders (must be
 * in the journal). What was sent but not answered may be either; every answer is a yes: a cancel of an acknowledged order that is not
 * found is an order lost. At the end the whole journal is verified. Three times in `npm test`, 500 in `npm run test:deep`.
 * Somebody listens on a socket: whatever he was told is there afterwards too.
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { orderId as idOf, tradeId } from '../../core/layout/ids.ts'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import { EventType, FILL, RESULT } from '../../core/layout/event.ts'
import { RECORD_BYTES } from '../../core/layout/table.ts'
import { createClient, type Client, type RingbookError } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { Listener } from '../support/listener.ts'
import { SocketClient, type Frame } from '../support/sockets.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const SEED = seedOf()
const COUNTS = { short: 1, deep: 500 }
const TRADERS = 4
/** Orders and cancels of one trader in one round, of which the kill comes far before the last. */
const CALLS = 2000
t.setTimeout(0)

/** What the clients know for sure. */
interface Ledger {
  /** Acknowledged, resting, cancel never sent. */
  open: Set<string>
  /** Cancel acknowledged. */
  cancelled: Set<string>
  /** Acknowledged, of any kind. */
  acknowledged: Set<string>
  /** Answers that were no. */
  refused: string[]
}

/** What the listener was told, of all rounds. */
interface Told {
  readonly orders: Set<string>
  readonly ended: Set<string>
  readonly trades: Set<string>
  /** Newest row of each asset. */
  readonly balances: Map<string, { version: number }>
}

async function listen({ port }: Exchange, { signer }: Trader): Promise<Listener> {
  const socket = await SocketClient.open(port)
  await socket.authenticate(signer)
  for (const channel of ['orders', 'balances']) await socket.subscribe(channel)
  return new Listener(socket)
}

const hasEnded = ({ type, data }: Frame): boolean =>
  type === 'order_update' && ['FILLED', 'CANCELLED', 'EXPIRED'].includes(data.status)

/** Adds what came before the exchange was killed. */
async function note(listener: Listener, told: Told): Promise<void> {
  await listener.client.closed
  listener.catchUp()
  for (const frame of listener.client.of('orders').filter(({ type }) => type === 'order_update')) {
    told.orders.add(frame.data.orderId)
    if (hasEnded(frame)) told.ended.add(frame.data.orderId)
  }
  for (const { id } of listener.fills.values()) told.trades.add(id)
  for (const [assetId, row] of listener.balances) told.balances.set(assetId, row as { version: number })
}

/** Assets of which the listener was told something that is not there. */
async function untrue(client: Client, told: Told): Promise<string[]> {
  const { balances } = await client.ListBalances({ pageSize: 100 })
  const rows = new Map(balances.map((row) => [row.assetId, row]))
  return [...told.balances].filter(([assetId, row]) => {
    const now = rows.get(assetId)!
    return now.version < row.version || (now.version === row.version && !isDeepStrictEqual(now, row))
  }).map(([assetId]) => assetId)
}

/** One trader's load until the connection breaks: rest, sometimes cancel one of its own, sometimes cross. */
async function load(baseUrl: string, trader: Trader, pair: string, ledger: Ledger, random: () => number): Promise<void> {
  const client = createClient({ baseUrl, signer: trader.signer, timeoutMs: 5000 })
  const mine: string[] = []
  for (let i = 0; i < CALLS; i++) {
    const dice = random()
    const cancelled = dice < 0.25 ? mine.pop() : undefined
    try {
      if (cancelled === undefined) {
        const { orderId, rests } = await place(client, pair, dice < 0.45, random)
        ledger.acknowledged.add(orderId)
        if (!rests) continue
        ledger.open.add(orderId)
        mine.push(orderId)
      } else {
        ledger.open.delete(cancelled)
        await client.CancelOrder({ orderId: cancelled })
        ledger.cancelled.add(cancelled)
      }
    } catch (error) {
      if ((error as RingbookError).status === undefined) return
      ledger.refused.push(`${cancelled === undefined ? 'an order' : `the cancel of ${cancelled}`}: ${(error as RingbookError).code}`)
    }
  }
}

/** One acknowledged order, far from the price or crossing it; whether it surely rests. */
async function place(client: Client, pair: string, crossing: boolean, random: () => number): Promise<{ orderId: string; rests: boolean }> {
  const side = random() < 0.5 ? 'BUY' : 'SELL'
  const away = (side === 'BUY' ? -1 : 1) * (crossing ? -0.001 : 0.05 + Math.floor(random() * 50) * 0.001)
  const order = { tradingPairId: pair, orderType: 'LIMIT', side, quantity: '10', price: (0.3 + away).toFixed(4) } as const
  // Half of those that cross rest until one of the others meets them.
  const { orderId } = await client.CreateOrder(crossing && random() < 0.5 ? { ...order, timeInForce: 'IOC' } : order)
  return { orderId, rests: !crossing }
}

async function openOrders(exchange: Exchange, traders: readonly Trader[]): Promise<Set<string>> {
  const open = new Set<string>()
  for (const trader of traders) {
    const client = createClient({ baseUrl: exchange.baseUrl, signer: trader.signer })
    for (let page = 1; ; page++) {
      const { orders, totalPages } = await client.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'], page, pageSize: 100 })
      for (const order of orders) open.add(order.orderId)
      if (page >= totalPages!) break
    }
  }
  return open
}

t.test('kill -9 under load, over and over', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/crash/kill_under_load.test.ts`)
  const random = createPrng(SEED)
  const directory = temporaryDirectory()
  let running: Exchange | null = null
  t.teardown(async () => {
    await running?.kill()
    removeDirectory(directory)
  })
  const ledger: Ledger = { open: new Set(), cancelled: new Set(), acknowledged: new Set(), refused: [] }
  const told: Told = { orders: new Set(), ended: new Set(), trades: new Set(), balances: new Map() }
  let traders: Trader[] = []
  let pair = ''
  let kills = 0
  /** A start on what is there, which must hold what was acknowledged and told. */
  const start = async (): Promise<Exchange> => {
    const exchange = await startExchange(directory, ['--snapshot-every', '500'])
    running = exchange
    for (let i = traders.length; i < TRADERS; i++) traders = [...traders, await newTrader(exchange.baseUrl, 5)]
    if (pair === '') pair = await pairOf(traders[0]!.client, 'SEI/USDC')
    const open = await openOrders(exchange, traders)
    const lost = [...ledger.open].filter((id) => !open.has(id))
    const risen = [...ledger.cancelled].filter((id) => open.has(id))
    const untold = [...told.ended].filter((id) => open.has(id))
    t.strictSame({ lost, risen, untold }, { lost: [], risen: [], untold: [] }, `after ${kills} kills: ${open.size} open orders`)
    const client = createClient({ baseUrl: exchange.baseUrl, signer: traders[0]!.signer })
    t.strictSame(await untrue(client, told), [], 'balances are as they were told, or newer')
    return exchange
  }
  for (const _round of eachRound(t, COUNTS)) {
    const exchange = await start()
    const listener = await listen(exchange, traders[0]!)
    let trading = TRADERS
    const loads = traders.map((trader) => load(exchange.baseUrl, trader, pair, ledger, random.unit).finally(() => trading--))
    const killAt = ledger.acknowledged.size + 20 + random.below(150)
    // One trader of four listens: until something of its own has ended there is nothing that may come back.
    const isEarly = (): boolean =>
      ledger.acknowledged.size < killAt || (told.ended.size === 0 && !listener.client.of('orders').some(hasEnded))
    while (isEarly() && trading > 0) await new Promise((resolve) => setImmediate(resolve))
    await exchange.kill()
    kills++
    await Promise.all(loads)
    t.strictSame(ledger.refused, [], 'no order and no cancel was refused')
    await note(listener, told)
  }
  t.equal(await (await start()).stop(), 0, 'orderly stop')
  t.ok(ledger.acknowledged.size > kills * 20, `${kills} kills, ${ledger.acknowledged.size} acknowledged orders`)
  const verified = verify(directory, () => undefined)
  t.ok(verified.snapshots.length > 0 && verified.snapshots.every(({ verdict }) => verdict === 'ok'), 'every snapshot is what replay gives')
  const journal = readJournal(directory)
  t.strictSame([...ledger.acknowledged].filter((id) => !journal.orders.has(id)), [], 'every acknowledged order is in the journal')
  const { orders, ended, trades } = told
  t.ok(orders.size > kills && ended.size + trades.size > 0, `${orders.size} orders and ${trades.size} trades were told`)
  t.strictSame([...told.orders].filter((id) => !journal.orders.has(id)), [], 'every order that was told is in the journal')
  t.strictSame([...told.trades].filter((id) => !journal.trades.has(id)), [], 'and every trade')
})

/** Ids of every order the journal accepted, and of every trade. */
function readJournal(directory: string): { orders: Set<string>; trades: Set<string> } {
  const [orders, trades] = [new Set<string>(), new Set<string>()]
  for (const { command, events, sequence } of openSource(directory).steps) {
    if (typeOfKind(command.readUInt32LE(0)) !== CommandType.PLACE_ORDER) continue
    for (let at = 0; at < events.length; at += RECORD_BYTES) {
      if (events[at] === EventType.FILL) trades.add(tradeId(sequence, events.readInt32LE(at + FILL.at.index * 4)))
    }
    const result = events.subarray(events.length - RECORD_BYTES)
    if (result.readInt32LE(RESULT.at.code * 4) === 0) orders.add(idOf(sequence, result.readInt32LE(RESULT.at.slot * 4)))
  }
  return { orders, trades }
}
