/**
 * Promise: a limit is raised by the operator and is in force from the next start on, which the journal says: what was decided before it was
 * decided under the old one, in every replay, snapshot and follower. It is never lowered and never more than there is memory for.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openProjection } from '../../core/history/project/projection.ts'
import { CommandType } from '../../core/layout/command.ts'
import { RAISABLE, type RaisableLimit } from '../../core/layout/limits.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { verify } from '../../core/replay/verify.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { loadSnapshot, writeSnapshot } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, postCommand, startMatcher, type Matcher } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const MARKET = VARIANTS['market']!
const GENESIS = genesisText({ ...MARKET, limits: { ...MARKET.limits, accounts: 4, orders: 16, pairs: 4, sessions: 16 } })
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

function exchangeOf(t: Test): { dataDir: string; start(): Matcher } {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  return { dataDir, start: () => startMatcher(dataDir, { genesis: GENESIS }) }
}

/** The RESULT of a command of this lane. */
function send(matcher: Matcher, lane: number, type: CommandType, values: Decoded): Decoded {
  postCommand(matcher, lane, type, { session: -1, ...values })
  matcher.turn()
  return answersOf(matcher, lane).at(-1)!
}
const said = ({ code }: Decoded): string => (code === 0 ? 'done' : refusalByNumber(Number(code)).code)
const raise = (matcher: Matcher, limit: RaisableLimit, value: number): string =>
  said(send(matcher, 0, CommandType.RAISE_LIMIT, { limit: RAISABLE.findIndex(([name]) => name === limit), value }))
const signIn = (matcher: Matcher, name: string): Decoded =>
  send(matcher, 1, CommandType.OPEN_SESSION, { address: hex(name, 20), publicKey: hex(name, 32), application: 0 })
const place = (matcher: Matcher, { detail, detail2 }: Decoded, over: Decoded = {}): Decoded =>
  send(matcher, 1, CommandType.PLACE_ORDER, { session: detail!, sessionGeneration: detail2!, pair: 0, price: 3000, lots: 100, ...over })
const putInForce = ({ sequencer }: Matcher): void => commitOwn(sequencer, CommandType.LIMITS_IN_FORCE, {})

t.test('what is no raise is refused by name', async (t) => {
  const matcher = exchangeOf(t).start()
  t.same([raise(matcher, 'accounts', 4), raise(matcher, 'accounts', 3)], ['LIMIT_NOT_RAISED', 'LIMIT_NOT_RAISED'])
  t.same([raise(matcher, 'pairs', 257), raise(matcher, 'orders', 2 ** 24)], ['LIMIT_TOO_LARGE', 'LIMIT_TOO_LARGE'], 'the most; memory')
  t.equal(raise(matcher, 'receipts', 2 ** 27), 'LIMIT_TOO_LARGE', 'with all their pages in memory')
  t.equal(raise(matcher, 'orders', 2 ** 22), 'done')
  t.equal(raise(matcher, 'accounts', 2 ** 23), 'LIMIT_TOO_LARGE', 'beside what was raised already')
  t.equal(raise(matcher, 'orders', 2 ** 22), 'LIMIT_NOT_RAISED', 'not above what the next start has')
  t.equal(raise(matcher, 'accounts', 5.5), 'INVALID_COMMAND')
  t.equal(said(send(matcher, 1, CommandType.RAISE_LIMIT, { limit: 0, value: 9 })), 'OPERATOR_ONLY')
  t.equal(said(send(matcher, 0, CommandType.LIMITS_IN_FORCE, {})), 'INVALID_COMMAND', 'that is the sequencer\'s')
  await matcher.database.close()
})

t.test('the old limit decides until the start that says otherwise; everybody who replays comes to the same', async (t) => {
  const { dataDir, start } = exchangeOf(t)
  const matcher = start()
  const { state } = matcher.sequencer
  const users = ['ann', 'bob', 'cat', 'dan'].map((name) => signIn(matcher, name))
  const [ann] = users as [Decoded]
  const mint = ({ detail, detail2 }: Decoded): Decoded =>
    send(matcher, 1, CommandType.MINT, { session: detail!, sessionGeneration: detail2!, asset: -1 })
  for (const user of users) t.equal(said(mint(user)), 'done')
  t.equal(said(place(matcher, ann, { flags: 1, price: 3010 })), 'done')
  t.equal(said(signIn(matcher, 'eve')), 'OVERLOADED')
  t.same([raise(matcher, 'accounts', 9), raise(matcher, 'orders', 400), raise(matcher, 'pairs', 8)], ['done', 'done', 'done'])
  t.equal(said(signIn(matcher, 'eve')), 'OVERLOADED', 'not yet')
  const { limits } = state.genesis
  t.same([limits.accounts, limits.orders, limits.pairs], [4, 16, 4])

  putInForce(matcher)
  t.same([limits.accounts, limits.orders, limits.pairs, state.maxOrders], [9, 400, 8, 400])
  checkInvariants(state)
  t.equal(said(signIn(matcher, 'eve')), 'done')
  for (let index = 0; index < 20; index++) {
    t.equal(said(place(matcher, users[index % 4]!, { price: 2900 - index })), 'done', `order ${index + 2}, of 16 before`)
  }
  t.match(place(matcher, users[1]!, { price: 3010, lots: 50 }), { code: 0, trades: 1 }, 'what rested before is there')
  checkInvariants(state)
  await matcher.database.close()

  const again = start()
  t.equal(stateDigest(again.sequencer.state), stateDigest(state))
  const elsewhere = exchangeOf(t).dataDir
  writeSnapshot(elsewhere, again.sequencer.state, GENESIS, 1, 2)
  const { state: loaded } = loadSnapshot(elsewhere, state.clock[0]!)
  t.same(loaded.genesis.limits, limits, 'a snapshot has them')
  t.equal(stateDigest(loaded), stateDigest(state))
  checkInvariants(loaded)
  await again.database.close()

  t.equal(verify(dataDir, () => undefined).commands, state.clock[0], 'a replay grows on its way')
  const projection = openProjection(dataDir, join(dataDir, 'other.sqlite'), { warn: (text) => t.fail(text) })
  while (projection.step(1000));
  t.equal(projection.sequence, state.clock[0], 'the history goes on with the orders of now')
  await projection.close()
})
