/**
 * Promise: sign-ins and faucet requests are bounded and leave nothing behind when they are refused; sessions end when they should
 * (I-programs). The property tests cover the same ground at random; here are the cases that once went wrong or easily could.
 */
import t from 'tap'
import { hasMinted, recentRequests } from '../../core/programs/faucet.ts'
import { SCALAR, TOTAL } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { CommandType, kindOf, MINT_COMMAND, OPEN_SESSION_COMMAND, SESSION_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { ASSET_LISTING } from '../../core/state/listing_rows.ts'
import { assetListingRow, faucetOf, getI64, setF64, totalRow } from '../../core/state/rows.ts'
import { readPools } from '../../core/view/pools.ts'
import { createBench, type Bench } from '../support/naive_compare.ts'
import { genesisText, pairSpec, type VariantSpec } from '../support/variants.ts'

const START = 1_700_000_000_000
const DAY = 86_400_000
const ASSETS: VariantSpec['assets'] = [['BTC', 8, '1'], ['USD', 6, '100'], ['NONE', 6, '0']]
const command = viewsOf(new ArrayBuffer(RECORD_BYTES))

const benchWith = (limits: Record<string, number>, dailyLimit = 2): Bench =>
  createBench(genesisText({ limits, dailyLimit, assets: ASSETS, pairs: [pairSpec('BTC/USD')] }))

function send(bench: Bench, layout: Layout, type: CommandType, values: Decoded, time = START): Decoded {
  encode(layout, command, 0, { kind: kindOf(type, 1, 1), ...values })
  const count = bench.run(command, 0, time)
  checkInvariants(bench.state)
  return decode(RESULT, bench.said, (count - 1) * RECORD_WORDS)
}

function signIn(bench: Bench, wallet: string, key: string, time = START, application = 0): Decoded {
  const identity = { session: -1, application, address: wallet.padEnd(40, '0'), publicKey: key.padEnd(64, '0') }
  return send(bench, OPEN_SESSION_COMMAND, CommandType.OPEN_SESSION, identity, time)
}

const signedBy = (answer: Decoded): Decoded => ({ session: answer['detail']!, sessionGeneration: answer['detail2']! })

t.test('a sign-in refused for lack of accounts takes no session row', async (t) => {
  const bench = benchWith({ accounts: 4, sessions: 6 })
  for (let wallet = 1; wallet <= 4; wallet++) t.equal(signIn(bench, `a${wallet}`, `b${wallet}`)['code'], 0)
  for (let wallet = 1005; wallet < 1050; wallet++) t.equal(signIn(bench, `a${wallet}`, `b${wallet}`)['code'], 900)
  t.equal(bench.state.scalars[SCALAR.SESSIONS_USED], 4)
  t.equal(signIn(bench, 'a1', 'c1')['code'], 0, 'a known wallet still gets in')
  t.equal(signIn(bench, 'a2', 'c2', START + 2 * DAY)['code'], 0)
  t.equal(signIn(bench, 'a3', 'c3', START + 2 * DAY)['code'], 0, 'dead rows are used again')
})

t.test('all session rows live: refused until one ends', async (t) => {
  const bench = benchWith({ accounts: 4, sessions: 4, sessionsPerAccount: 3 })
  const first = signIn(bench, 'a1', 'b1')
  for (let wallet = 2; wallet <= 4; wallet++) signIn(bench, `a${wallet}`, `b${wallet}`)
  t.equal(signIn(bench, 'a1', 'b5')['code'], 900)
  t.equal(send(bench, SESSION_COMMAND, CommandType.REVOKE_SESSION, signedBy(first))['expiresAt'], 0)
  t.equal(send(bench, SESSION_COMMAND, CommandType.REFRESH_SESSION, signedBy(first))['code'], 113, 'a revoked session is gone')
  const fifth = signIn(bench, 'a1', 'b5')
  t.equal(fifth['code'], 0)
  t.equal(fifth['detail'], first['detail'], 'in the row that it gave up itself')
  t.equal(send(bench, SESSION_COMMAND, CommandType.REFRESH_SESSION, signedBy(first))['code'], 113, 'which the old session cannot use')
})

t.test('a key belongs to one identity while its row is kept', async (t) => {
  const bench = benchWith({})
  signIn(bench, 'a1', 'b1')
  t.equal(signIn(bench, 'a2', 'b1')['code'], 116)
  t.equal(signIn(bench, 'a1', 'b1', START, 1)['code'], 116, 'the same wallet in another application is somebody else')
  t.equal(signIn(bench, 'a2', 'b1', START + DAY)['code'], 116, 'its session has ended')
  t.equal(signIn(bench, 'a2', 'b1', START + 9 * DAY)['code'], 116, 'nobody needed the row')
  t.equal(signIn(bench, 'a1', 'b1', START + 9 * DAY)['code'], 0, 'its own it is all the time')
  t.equal(signIn(bench, 'a2', 'b9', START + 9 * DAY, 7)['code'], 600, 'unknown application')
})

t.test('the pool of sessions says what is taken before it is full, and what is over for a day is taken no more', async (t) => {
  const bench = benchWith({ accounts: 8, sessions: 20, sessionsPerAccount: 5 })
  const used = (time: number): string => readPools(bench.state, time).filter(({ pool }) => pool === 'sessions')
    .map(({ used: rows, capacity }) => `${rows} of ${capacity}`).join()
  for (let key = 0; key < 24; key++) signIn(bench, `a${key % 2}`, `b${key}`)
  t.equal(used(START), '18 of 20', 'two wallets have nine tenths, and one of the alarms is there')
  const codes = [2, 3, 4, 5].map((wallet) => signIn(bench, `c${wallet}`, `d${wallet}`)['code'])
  t.same(codes, [0, 0, 900, 900], 'the last tenth is for those with few')
  t.equal(used(START), '20 of 20')
  const free = START + bench.state.genesis.limits.sessionLifetimeMs + DAY
  t.same([START + DAY, free - 1, free].map(used), ['12 of 20', '12 of 20', '0 of 20'], 'what ended early is free earlier')
  t.equal(signIn(bench, 'c5', 'd9', free)['code'], 0)
})

t.test('the faucet: so many requests in any 24 hours', async (t) => {
  const bench = benchWith({ sessionLifetimeMs: 30 * DAY })
  const session = signedBy(signIn(bench, 'a1', 'b1'))
  const mint = (time: number, asset = -1): Decoded => send(bench, MINT_COMMAND, CommandType.MINT, { ...session, asset }, time)
  t.match(mint(START), { code: 0, expiresAt: START }, 'another passes at once')
  t.match(mint(START + 1000, 1), { code: 0, expiresAt: START + DAY }, 'then not before the first is a day old')
  t.match(mint(START + DAY - 1), { code: 308, expiresAt: START + DAY })
  t.match(mint(START + DAY), { code: 0, expiresAt: START + DAY + 1000 })
  t.match(mint(START + DAY, 2), { code: 309 }, 'an asset the faucet has not')
  t.match(mint(START + DAY, 9), { code: 309 })
})

/** 2.3 requests of GEM are all there may ever be. */
const GEM: VariantSpec['assets'] =
  [['BTC', 8, '1'], ['USD', 6, '100'], ['NONE', 6, '0'], ['GEM', 9, '2000000000'], ['ORE', 9, '4000000000']]

t.test('the faucet: an asset at its ceiling is left out, and the others go on', async (t) => {
  const bench = createBench(genesisText({ limits: {}, dailyLimit: 15, assets: GEM, pairs: [pairSpec('BTC/USD')] }))
  const { state } = bench
  const session = signedBy(signIn(bench, 'a1', 'b1'))
  const mint = (asset = -1): unknown => send(bench, MINT_COMMAND, CommandType.MINT, { ...session, asset })['code']
  const held = (): string => [0, 1, 2, 3, 4].map((asset) => getI64(state, totalRow(state, asset), TOTAL.ISSUED) / 10n ** 6n).join()
  t.equal(mint(), 0)
  t.equal(held(), '100,100,0,2000000000000,4000000000000')
  t.equal(mint(), 0, 'ORE has no room')
  t.equal(held(), '200,200,0,4000000000000,4000000000000')
  t.equal(mint(4), 900, 'who asks for it alone is refused')
  t.equal(mint(2), 309)
  t.equal(mint(), 0, 'neither has GEM')
  t.equal(mint(3), 900)
  t.equal(mint(0), 0)
  t.equal(held(), '400,300,0,4000000000000,4000000000000')
  const requests = recentRequests(faucetOf(state, 0), 15)
  const minted = requests.map((request) => [0, 1, 3, 4].filter((asset) => hasMinted(state, request, asset)))
  t.same(minted, [[0], [0, 1], [0, 1, 3], [0, 1, 3, 4]])
  // As if BTC had been listed between the second request and the third.
  const listed = 1 + (requests[2]!.sequence + requests[1]!.sequence) / 2
  setF64(state, assetListingRow(state, 0), ASSET_LISTING.SEQUENCE, listed)
  t.same(requests.map((request) => hasMinted(state, request, 0)), [true, true, false, false], 'listed later, not minted before')
  const pools = readPools(state, START).filter(({ pool }) => pool.startsWith('faucet'))
  t.same(pools.map(({ pool, used }) => `${pool} ${used}`), [
    'faucet BTC 400000000', 'faucet USD 300000000', 'faucet GEM 4000000000000000000', 'faucet ORE 4000000000000000000',
  ])
  t.ok(pools.every(({ capacity }) => capacity === 4.6e18))
})

t.test('the faucet: refused when nothing has room, and the request does not count', async (t) => {
  const only: VariantSpec['assets'] = [['BTC', 8, '0'], ['USD', 6, '2000000000000']]
  const bench = createBench(genesisText({ limits: {}, dailyLimit: 3, assets: only, pairs: [pairSpec('BTC/USD')] }))
  const session = signedBy(signIn(bench, 'a1', 'b1'))
  const mint = (): unknown => send(bench, MINT_COMMAND, CommandType.MINT, { ...session, asset: -1 })['code']
  t.same([mint(), mint(), mint(), mint(), mint()], [0, 0, 900, 900, 900])
})

t.test('the faucet before the rules 2: one asset at its ceiling refuses all', async (t) => {
  const bench = createBench(genesisText({ limits: {}, rules: 1, dailyLimit: 9, assets: GEM, pairs: [pairSpec('BTC/USD')] }))
  const session = signedBy(signIn(bench, 'a1', 'b1'))
  const mint = (asset: number): unknown => send(bench, MINT_COMMAND, CommandType.MINT, { ...session, asset })['code']
  t.same([mint(-1), mint(-1), mint(3), mint(4), mint(3), mint(1)], [0, 900, 0, 900, 900, 0])
  t.same(recentRequests(faucetOf(bench.state, 0), 15).map(({ asset }) => asset), [1, 3, -1])
  const [, , all] = recentRequests(faucetOf(bench.state, 0), 15)
  t.ok([0, 1, 3, 4].every((asset) => hasMinted(bench.state, all!, asset)))
})

t.test('a daily limit of zero: refused, and no time is named', async (t) => {
  const bench = benchWith({}, 0)
  const session = signedBy(signIn(bench, 'a1', 'b1'))
  t.match(send(bench, MINT_COMMAND, CommandType.MINT, { ...session, asset: 0 }), { code: 308, expiresAt: 0 })
})
