/**
 * Promise: funding rates and the payments of a position are listed page by page over the wire, newest first, each once, as they were
 * paid: amount = size x mark x rate, rounded down for who gets it. Page tokens open the listing they came from, for who asked it, and an
 * interval of time leaves out the rest. Payments of a position are its owner's alone.
 *
 * Funding is paid each hour, so the first hours of this exchange are written by a sequencer with a clock of its own; then the real one is
 * started on its journal.
 */
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { CollateralMove, PriceSource } from '../../core/layout/margin.ts'
import { RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { eventsOf, post, startMatcher, takeAnswers, type Matcher } from '../support/journal.ts'

t.setTimeout(600_000)
const [HOUR, MINUTE, HOURS] = [3_600_000, 60_000, 5]
const GENESIS = testGenesis({}, true)
const genesis = parseGenesis(GENESIS)
const pair = genesis.pairs.find(({ symbol }) => symbol === 'BTC/USDC-PERP')!
/** Ticks: the index, and a book above it, so that longs pay. */
const [INDEX, BID, ASK] = [600_000, 600_600, 600_800]
/** Of the long one and of the short one, at first; one more each hour. */
const LOTS = 1000
const DOLLARS = 1_000_000n

const wallets = ['maker', 'long', 'short'].map(() => privateKeyToAccount(generatePrivateKey()))
const [MAKER, LONG, SHORT] = [0, 1, 2] as const

/** Answer of the one command of a batch; it was not refused. */
function send(matcher: Matcher, lane: number, type: CommandType, values: Decoded): Decoded {
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  encode(COMMAND_LAYOUTS[type]!, command, 0, { kind: kindOf(type, 1, lane), ...values })
  post(matcher, command)
  matcher.turn()
  const answer = decode(RESULT, takeAnswers(matcher.gateways[lane]!), 0)
  if (answer['code'] !== 0) throw new Error(`command ${type} was refused: ${String(answer['code'])}`)
  eventsOf(matcher)
  return answer
}

/** Sequenced hours of trading and funding, up to some minutes before now. */
function writeHours(directory: string): void {
  const matcher = startMatcher(directory, { genesis: GENESIS, startTime: Math.floor(Date.now() / HOUR) * HOUR - HOURS * HOUR + MINUTE })
  const price = (): unknown =>
    send(matcher, 0, CommandType.SET_INDEX_PRICE, {
      session: -1, pair: pair.index, price: INDEX, source: PriceSource.OPERATOR, observedAt: matcher.clock,
    })
  const signed = wallets.map(({ address }, index) => {
    const opened = send(matcher, 1, CommandType.OPEN_SESSION, {
      session: -1, address: address.slice(2).toLowerCase(), publicKey: `${index + 1}`.repeat(64),
    })
    const session = { session: Number(opened['detail']), sessionGeneration: Number(opened['detail2']) }
    send(matcher, 1, CommandType.MINT, { ...session, asset: -1 })
    send(matcher, 1, CommandType.MOVE_COLLATERAL, {
      ...session, move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, amount: 9000n * DOLLARS,
    })
    return session
  })
  const order = (who: number, sell: boolean, tick: number, lots: number, over = 0): unknown =>
    send(matcher, 1, CommandType.PLACE_ORDER, {
      ...signed[who]!, pair: pair.index, flags: Flag.MARGIN | (sell ? Flag.SELL : 0) | over, price: tick, lots, leverage: 2000,
    })
  price()
  order(MAKER, false, BID, 2 * LOTS)
  order(MAKER, true, ASK, 2 * LOTS)
  order(LONG, false, ASK, LOTS, Flag.IOC)
  order(SHORT, true, BID, LOTS, Flag.IOC)
  for (let half = 1; half < 2 * HOURS; half++) {
    matcher.clock += HOUR / 2
    price()
    matcher.turn(true)
    eventsOf(matcher)
    if (half % 2 !== 0) continue
    // Whose position changes is paid.
    order(LONG, false, ASK, 1, Flag.IOC)
    order(SHORT, true, BID, 1, Flag.IOC)
  }
  matcher.database.close()
}

type Row = Record<string, string>

/** All pages of a listing, with so many rows each; the tokens that led on. */
async function pages(
  list: (query: object) => Promise<Record<string, unknown>>, name: string, pageSize: number,
): Promise<[Row[], string[]]> {
  const [rows, tokens]: [Row[], string[]] = [[], []]
  for (let pageToken = '', page = 0; page < 100; page++) {
    const answer = await list({ pageSize, pageToken })
    const found = answer[name] as Row[]
    if (found.length > pageSize) throw new Error(`${found.length} rows on a page of ${pageSize}`)
    rows.push(...found)
    pageToken = String(answer['nextPageToken'] ?? '')
    if (pageToken === '') return [rows, tokens]
    tokens.push(pageToken)
  }
  throw new Error('it has no end')
}

/** What `lots` got in one interval, in atoms: cut towards 0 for one lot, in 10^-6 atoms, and then down. */
function paidFor(lots: number, { fundingRate, markPrice }: Row): bigint {
  const rate = BigInt(Math.round(Number(fundingRate) * 1e8))
  const ticks = BigInt(Math.round(Number(markPrice) / Number(pair.tickSize)))
  const total = -BigInt(lots) * ((ticks * pair.tickLotAtoms * rate) / 100n)
  return total / 1_000_000n - (total < 0n && total % 1_000_000n !== 0n ? 1n : 0n)
}
const atoms = (text: string): bigint => BigInt(Math.round(Number(text) * 1e6))

t.test('five hours of funding', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  writeHours(directory)
  const exchange = await startExchange(directory)
  t.teardown(() => exchange.stop())
  const clients: Client[] = wallets.map((account) => createClient({
    baseUrl: exchange.baseUrl,
    wallet: { address: account.address, signMessage: (message: string) => account.signMessage({ message }) },
  }))
  for (const client of clients) await client.signIn()
  await historyReached(exchange)
  const [long, short] = [clients[LONG]!, clients[SHORT]!]
  const tradingPairId = pair.id
  const [rates, rateTokens] = await pages((query) => long.ListFundingRates({ tradingPairId, ...query }), 'fundingRates', 2)
  const paid = rates.filter(({ fundingRate }) => fundingRate !== '0')
  t.equal(paid.length, HOURS - 1, 'one each hour')
  t.ok(paid.every(({ fundingRate }) => Number(fundingRate) > 0), 'longs pay')
  t.same(rates.map(({ fundingTime }) => fundingTime).toSorted().reverse(), rates.map(({ fundingTime }) => fundingTime), 'newest first')
  t.equal(new Set(rates.map(({ fundingTime }) => fundingTime)).size, rates.length, 'each once')
  const whole = await long.ListFundingRates({ tradingPairId, pageSize: 100 })
  t.same(whole.fundingRates, rates, 'one large page is the same')
  t.equal(whole.total, rates.length)

  const positionOf = async (client: Client): Promise<string> => (await client.ListPositions()).positions[0]!.positionId
  const tokens = new Map<Client, string>()
  for (const [client, sign] of [[long, 1], [short, -1]] as const) {
    const positionId = await positionOf(client)
    const [payments, found] = await pages((query) => client.ListFundingPayments({ positionId, ...query }), 'payments', 1)
    const sizes = paid.map((_, index) => LOTS + paid.length - 1 - index)
    t.same(payments.map(({ amount }) => atoms(amount!)), paid.map((rate, index) => paidFor(sign * sizes[index]!, rate)))
    t.same(payments.map(({ size }) => Math.round(Number(size) / Number(pair.lotSize))), sizes, 'for what it had')
    t.ok(payments.every(({ side }) => side === (sign > 0 ? 'LONG' : 'SHORT')))
    const [{ createdAt: newest }, { createdAt: next }] = [payments[0]!, payments[1]!]
    const late = await client.ListFundingPayments({ positionId, startTime: newest! })
    t.same(late.payments, payments.slice(0, 1), 'from a time on')
    const early = await client.ListFundingPayments({ positionId, endTime: next! })
    t.same(early.payments, payments.slice(1), 'up to a time')
    tokens.set(client, found[0]!)
  }

  const refusal = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(() => 'answered', ({ code, details }: { code: string; details: unknown }) => ({ code, details }))
  const wrong = { code: 'VALIDATION_ERROR', details: { field: 'pageToken' } }
  const [longId, shortId] = [await positionOf(long), await positionOf(short)]
  t.match(await refusal(long.ListFundingPayments({ positionId: shortId })), { code: 'POSITION_NOT_FOUND' }, "another's position")
  t.match(await refusal(long.ListFundingPayments({ positionId: longId, pageSize: 1, pageToken: tokens.get(short)! })), wrong)
  t.match(await refusal(long.ListFundingPayments({ positionId: longId, pageSize: 1, pageToken: rateTokens[0]! })), wrong)
  t.match(await refusal(long.ListFundingRates({ tradingPairId, pageSize: 1, pageToken: tokens.get(long)! })), wrong)
  const eth = genesis.pairs.find(({ symbol }) => symbol === 'ETH/USDC-PERP')!.id
  const ofOther = long.ListFundingRates({ tradingPairId: eth, pageSize: 2, pageToken: rateTokens[0]! })
  t.match(await refusal(ofOther), wrong, 'of another perpetual')
})
