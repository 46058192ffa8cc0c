/**
 * Promise: what a user reads of the referral program, the same over REST and gRPC: who brought him, whom he brought over three levels, and
 * to the atom what he earned of whom, by hand from the specification. He sees nothing of what others earn, and of them wallet and display
 * alone. Engine and history are real.
 *
 * ann brought bob, bob brought cat, cat brought dan; mia was brought by nobody. Shares of the levels are 20 %, 5 % and 2.5 %.
 *
 *   1  dan buys 0.05 BTC at 60,000 of mia   3000 USDC: taker 5 bps 1.5, rebate of the maker 0.5 bps 0.15, income 1.35
 *                                           cat 0.27, bob 0.0675, ann 0.03375
 *   2  cat buys 0.01 BTC at 60,000 of mia   600 USDC: 0.3, rebate 0.03, income 0.27: bob 0.054, ann 0.0135
 *   3  mia sells 100 SEI at 1 to dan        100 USDC: maker 1 bps 0.01: cat 0.002, bob 0.0005, ann 0.00025; mia's fee is nobody's reward
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { getAddress } from 'viem/utils'
import { CommandType, OPEN_SESSION_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { readAccount, readSessionRow } from '../../core/view/accounts.ts'
import { delegate, startHarness, testGenesis, type Harness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { liveHistorian } from '../support/live_history.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'
import { grpcTransport, restTransport, type Json, type Transport } from '../support/transports.ts'

let fault: 'none' | 'down' | 'behind' = 'none'
const THEN = Date.UTC(2026, 0, 15)
const live = liveHistorian(() => harness)
const harness: Harness = await startHarness(['--grpc-thread', '1'], testGenesis({}, true), (request) => {
  if (fault === 'down') return { id: request.id, failed: 'it cannot be read' }
  const reply = live(request)
  return fault === 'behind' && reply !== null ? { ...reply, behind: THEN } : reply
})
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const rest = restTransport(harness.port)
const TRANSPORTS: Readonly<Record<string, Transport>> = { REST: rest, gRPC: grpcTransport(client) }
const pairOf = (symbol: string): string => harness.genesis.pairs.find((pair) => pair.symbol === symbol)!.id
const { token: USDC } = harness.genesis.assets.find(({ symbol }) => symbol === 'USDC')!
const usdc = (amount: string): Json => ({ token: USDC, amount })

async function must(name: Parameters<Transport>[0], input: Json, session: Session | null): Promise<Json> {
  const answer = await rest(name, input, session) as Json
  if ('refused' in answer) throw new Error(`${name}: ${answer['refused']}, ${answer['message']}`)
  return answer
}

const accountOf = ({ row }: Session): number => readSessionRow(harness.state, row)!.account

/** A new wallet signs in with the code of `by`. */
async function arrive(by?: Session): Promise<Session> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  const address = randomBytes(20).toString('hex')
  const referrer = by === undefined ? -1 : accountOf(by)
  const said = await harness.operate(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND, {
    session: -1, application: 0, address, publicKey: key, referrer: referrer + 1,
    referrerSequence: by === undefined ? 0 : readAccount(harness.state, referrer).createdSequence,
  })
  if (said[RESULT.at.code] !== 0) throw new Error(`sign-in: ${said[RESULT.at.code]}`)
  return { publicKey: key, privateKey, address: `0x${address}`, row: said[RESULT.at.detail]!, generation: said[RESULT.at.detail2]! }
}

const short = (wallet: string): string => `${wallet.slice(0, 6)}…${wallet.slice(-4)}`
/** A user as others see him. */
const user = ({ address }: Session, display?: string): Json => {
  const walletAddress = getAddress(address as `0x${string}`)
  return { walletAddress, display: display ?? short(walletAddress) }
}

async function mint(session: Session, ...symbols: string[]): Promise<void> {
  for (const { id } of harness.genesis.assets.filter(({ symbol }) => symbols.includes(symbol))) await must('Mint', { assetId: id }, session)
}
const order = (symbol: string, side: string, quantity: string, price: string): Json =>
  ({ tradingPairId: pairOf(symbol), orderType: 'LIMIT', side, quantity, price })
/** `maker` rests, `taker` takes all of it; id and moment of the trade. */
async function trade(maker: Session, taker: Session, symbol: string, side: 'BUY' | 'SELL', quantity: string, price: string) {
  await must('CreateOrder', order(symbol, side === 'BUY' ? 'SELL' : 'BUY', quantity, price), maker)
  await must('CreateOrder', order(symbol, side, quantity, price), taker)
  const { trades } = await must('ListAccountTrades', { pageSize: 1 }, taker)
  return { tradeId: trades[0].id, createdAt: trades[0].executedAt }
}

const ann = await arrive()
const bob = await arrive(ann)
const cat = await arrive(bob)
const dan = await arrive(cat)
const mia = await arrive()
await must('RegisterLeader', { handle: 'Bob-The-Lead' }, bob)
await mint(mia, 'BTC', 'SEI')
for (const session of [cat, dan]) await mint(session, 'USDC')
const first = await trade(mia, dan, 'BTC/USDC', 'BUY', '0.05', '60000')
const second = await trade(mia, cat, 'BTC/USDC', 'BUY', '0.01', '60000')
const third = await trade(dan, mia, 'SEI/USDC', 'SELL', '100', '1')

/** What is null is absent over gRPC. */
const positionOf = async (by: Transport, session: Session): Promise<Json> =>
  ({ referrer: null, ...await by('GetReferralPosition', {}, session) })
const downlineOf = (by: Transport, session: Session): Promise<Json> => by('GetReferralDownline', {}, session) as Promise<Json>
const codeOf = async (session: Session): Promise<string> => String((await positionOf(rest, session))['referralCode'])
const reward = (level: number, source: Session, amount: string, of: Json): Json =>
  ({ tradeId: of['tradeId'], level, source: user(source), ...usdc(amount), createdAt: of['createdAt'] })
const joined = (session: Session, display?: string): Json =>
  ({ ...user(session, display), joinedAt: new Date(readAccount(harness.state, accountOf(session)).createdAt).toISOString() })
const levels = (...rows: [referees: number, earned: string | null][]): Json[] => rows.map(([referees, earned], index) =>
  ({ level: index + 1, referees, share: ['0.2', '0.05', '0.025'][index], earned: earned === null ? [] : [usdc(earned)] }))

for (const [way, by] of Object.entries(TRANSPORTS)) {
  t.test(`${way}: what each of the chain earned, and of whom`, async (t) => {
    t.strictSame(await positionOf(by, ann), {
      referralCode: await codeOf(ann), referrer: null, totalEarned: [usdc('0.0475')],
      rewards: [reward(3, dan, '0.00025', third), reward(2, cat, '0.0135', second), reward(3, dan, '0.03375', first)],
    }, 'ann: 0.03375 + 0.0135 + 0.00025')
    t.strictSame(await downlineOf(by, ann), {
      earningsBySource: [
        { source: user(dan), level: 3, earned: [usdc('0.034')], lastEarnedAt: third.createdAt },
        { source: user(cat), level: 2, earned: [usdc('0.0135')], lastEarnedAt: second.createdAt },
      ],
      directReferees: [joined(bob, 'Bob-The-Lead')], complete: true, summary: levels([1, null], [1, '0.0135'], [1, '0.034']),
    })
    t.strictSame(await positionOf(by, bob), {
      referralCode: await codeOf(bob), referrer: user(ann), totalEarned: [usdc('0.122')],
      rewards: [reward(2, dan, '0.0005', third), reward(1, cat, '0.054', second), reward(2, dan, '0.0675', first)],
    }, 'bob: 0.0675 + 0.054 + 0.0005')
    t.match(await downlineOf(by, bob), { directReferees: [joined(cat)], summary: levels([1, '0.054'], [1, '0.068'], [0, null]) })
    t.strictSame(await positionOf(by, cat), {
      referralCode: await codeOf(cat), referrer: user(bob, 'Bob-The-Lead'), totalEarned: [usdc('0.272')],
      rewards: [reward(1, dan, '0.002', third), reward(1, dan, '0.27', first)],
    }, 'cat: 0.27 + 0.002; whoever leads appears by handle')
  })

  t.test(`${way}: who brought nobody sees that, and nothing of others`, async (t) => {
    await nothingEarned(t, by, dan, user(cat))
    await nothingEarned(t, by, mia, null)
    const codes = await Promise.all([ann, bob, cat, dan, mia].map(codeOf))
    t.equal(new Set(codes).size, 5, `each has a code of his own: ${codes.join(' ')}`)
    const agent = await delegate(harness, ann)
    t.strictSame(await positionOf(by, agent.session), await positionOf(by, ann), 'an agent sees what its owner does')
  })

  t.test(`${way}: without a history there is no answer; one that is behind says so`, async (t) => {
    fault = 'down'
    for (const read of [positionOf, downlineOf]) t.match(await read(by, ann), { refused: 'HISTORY_UNAVAILABLE' })
    fault = 'behind'
    for (const read of [positionOf, downlineOf]) t.match(await read(by, ann), { asOf: new Date(THEN).toISOString() })
    fault = 'none'
  })
}

async function nothingEarned(t: Test, by: Transport, session: Session, referrer: Json | null): Promise<void> {
  t.strictSame(await positionOf(by, session), { referralCode: await codeOf(session), referrer, totalEarned: [], rewards: [] })
  t.strictSame(await downlineOf(by, session), {
    earningsBySource: [], directReferees: [], complete: true, summary: levels([0, null], [0, null], [0, null]),
  })
}

t.test('what is transferred stays earned, is a movement, and a change of the balance', async (t) => {
  const socket = await SocketClient.open(harness.port)
  await socket.authenticate(signerOf(ann))
  await socket.subscribe('balances')
  await must('TransferRewards', usdc('0.04'), ann)
  const { data } = await socket.next(({ type }) => type === 'balance_update')
  t.match(data, { token: USDC, availableBalance: '0.04', reasons: ['referral_reward'] })
  socket.close()
  t.match(await positionOf(rest, ann), { totalEarned: [usdc('0.0475')] })
  const { movements } = await must('ListMovements', { transactionType: 'REFERRAL_REWARD' }, ann)
  t.match(movements, [{ entryType: 'CREDIT', transactionType: 'REFERRAL_REWARD', ...usdc('0.04'), balanceAfter: '0.04', lockedAfter: '0' }])
  t.equal(movements.length, 1)
  t.match(await must('ListMovements', { transactionType: 'REFERRAL_REWARD' }, dan), { movements: [] }, 'of those who earned nothing none')
})

t.test('of more than 500 the newest are told, and that these are not all', async (t) => {
  const before = await downlineOf(rest, mia)
  t.equal(before['directReferees'].length, 0)
  const came: Session[] = []
  for (let number = 0; number < 501; number++) came.push(await arrive(mia))
  const { directReferees, complete, summary } = await downlineOf(rest, mia)
  t.equal(complete, false)
  const newest = came.slice(1).reverse().map((each) => user(each)['walletAddress'])
  t.strictSame(directReferees.map(({ walletAddress }: Json) => walletAddress), newest)
  t.match(summary, levels([501, null], [0, null], [0, null]))
})
