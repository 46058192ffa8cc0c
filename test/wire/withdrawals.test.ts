/**
 * Promise: the four operations of withdrawals, the same over REST and gRPC: what is asked for is checked field by field, locked exactly
 * once for each key, read by its owner and by nobody else while it is under way and ever after, and its calldata is to be had exactly while
 * it may be submitted. Engine and history are real; the vault thread is the test.
 */
import t, { type Test } from 'tap'
import { getAddress } from 'viem'
import { CommandType } from '../../core/layout/command.ts'
import { withdrawalId as idOf } from '../../core/layout/ids.ts'
import { SET_MAINTENANCE_COMMAND } from '../../core/layout/policy.ts'
import { WithdrawalStop } from '../../core/layout/vault.ts'
import type { CalldataAsk, CalldataReply } from '../../gateway/chain/vault/messages.ts'
import type { OperationName } from '../../gateway/operations/index.ts'
import { delegate, makeSubAccount, PLACES, startHarness, testGenesis, type Harness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { liveHistorian } from '../support/live_history.ts'
import { until } from '../support/money.ts'
import { NO_WITHDRAWAL } from '../support/session_samples.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'
import { grpcTransport, restTransport, type Json, type Transport } from '../support/transports.ts'
import { advance, hashOf, review, setTerms, stopWithdrawals } from '../support/withdrawal_records.ts'

t.setTimeout(240_000)
const live = liveHistorian(() => harness)
const harness: Harness = await startHarness(['--grpc-thread', '1'], testGenesis({ withdrawalsPerAccount: 12 }), live)
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const rest = restTransport(harness.port)
const TRANSPORTS: Readonly<Record<string, Transport>> = { REST: rest, gRPC: grpcTransport(client) }
const { genesis } = harness
const [usdc, , eth, sei] = genesis.assets

/** How the vault thread answers for calldata. */
let vault: (ask: CalldataAsk) => CalldataReply | null = () => null

async function must(by: Transport, name: OperationName, input: Json, session: Session): Promise<Json> {
  const answer = await by(name, input, session) as Json
  if ('refused' in answer) throw new Error(`${name}: ${answer['refused']}, ${answer['message']}`)
  return answer
}
const initiate = (by: Transport, session: Session, more: Json = {}): Promise<Json> =>
  by('InitiateWithdrawal', { assetId: usdc!.id, amount: '10', ...more }, session) as Promise<Json>
const read = (by: Transport, session: Session, withdrawalId: string): Promise<Json> =>
  by('GetWithdrawal', { withdrawalId }, session) as Promise<Json>
const balance = async (session: Session, asset = usdc!): Promise<[available: string, locked: string]> => {
  const { availableBalance, lockedBalance } = await must(rest, 'GetBalance', { assetId: asset.id }, session)
  return [availableBalance, lockedBalance]
}
/** A wallet with everything the faucet has. */
async function funded(): Promise<Session> {
  const session = await harness.openSession()
  await must(rest, 'Mint', {}, session)
  return session
}
const soon = (): number => Math.ceil(Date.now() / 1000) * 1000 + 600_000
/** What is absent or null, whichever way it came. */
const withNull = (record: Json): Json => ({ expiresAt: null, ...record })

t.test('without a vault nothing is taken out, and who asks sees that', async (t) => {
  const session = await funded()
  t.match(await must(rest, 'GetProfile', {}, session), { canWithdraw: false, depositAddress: null })
  for (const [way, by] of Object.entries(TRANSPORTS)) t.match(await initiate(by, session), { refused: 'CHAIN_UNAVAILABLE' }, way)
  t.strictSame(await balance(session), ['10000', '0'])
  harness.giveVault(PLACES, (ask) => vault(ask))
  for (const by of Object.values(TRANSPORTS)) {
    await until('the places', async () => (await by('GetProfile', {}, session) as Json)['canWithdraw'])
  }
  const { depositAddress } = await must(rest, 'GetProfile', {}, session)
  t.equal(depositAddress, getAddress(depositAddress))
  t.not(depositAddress, (await must(rest, 'GetProfile', {}, await funded()))['depositAddress'], 'each wallet has its own')
})

for (const [way, by] of Object.entries(TRANSPORTS)) {
  t.test(`${way}: from the request to its end`, async (t) => {
    const session = await funded()
    const made = withNull(await must(by, 'InitiateWithdrawal', { assetId: usdc!.id, amount: '12.500001' }, session))
    const { id: withdrawalId } = made
    t.strictSame({ ...made, createdAt: '' }, {
      id: withdrawalId, assetId: usdc!.id, token: usdc!.token, amount: '12.500001', amountRaw: '12500001',
      destination: getAddress(session.address as `0x${string}`), status: 'PENDING', needsApproval: false, nonce: made['nonce'],
      createdAt: '', expiresAt: null,
    })
    t.equal(idOf(Number(made['nonce']), 0).slice(0, 13), withdrawalId.slice(0, 13), 'its nonce is its sequence')
    t.strictSame(await balance(session), ['9987.499999', '12.500001'], 'it is locked')
    const waits = await by('GetWithdrawalCalldata', { withdrawalId }, session) as Json
    t.match(waits, { refused: 'WITHDRAWAL_STATUS', details: { status: 'PENDING' } }, 'not before it is signed')
    const deadline = soon()
    await advance(harness, withdrawalId, 'SIGNED', { deadline })
    const expiresAt = new Date(deadline).toISOString()
    t.strictSame(withNull(await read(by, session, withdrawalId)), { ...made, status: 'SIGNED', expiresAt })
    t.match(await must(by, 'ListPendingWithdrawals', {}, session), { withdrawals: [{ id: withdrawalId, status: 'SIGNED' }] })
    await submit(t, by, session, withdrawalId, made['nonce'], deadline)
    const txHash = hashOf('c')
    await advance(harness, withdrawalId, 'SUBMITTED', { txHash })
    t.match(await read(by, session, withdrawalId), { status: 'SUBMITTED', txHash })
    await advance(harness, withdrawalId, 'CONFIRMED', { txHash })
    t.strictSame(await read(by, session, withdrawalId), { ...made, status: 'CONFIRMED', expiresAt, txHash }, 'it is read ever after')
    t.strictSame((await must(by, 'ListPendingWithdrawals', {}, session))['withdrawals'], [])
    t.strictSame(await balance(session), ['9987.499999', '0'], 'it is gone')
    const over = await by('GetWithdrawalCalldata', { withdrawalId }, session) as Json
    t.match(over, { refused: 'WITHDRAWAL_STATUS', details: { status: 'CONFIRMED' } })
    await movements(t, by, session, withdrawalId, txHash)
  })

  t.test(`${way}: nobody else has it`, async (t) => {
    const session = await funded()
    const { id: live } = await initiate(by, session)
    const { id: over } = await initiate(by, session)
    await advance(harness, over, 'FAILED')
    t.match(await read(by, session, over), { status: 'FAILED' })
    const other = await funded()
    for (const name of ['GetWithdrawal', 'GetWithdrawalCalldata'] as const) {
      const missing = await by(name, { withdrawalId: NO_WITHDRAWAL }, other)
      t.match(missing, { refused: 'NOT_FOUND', details: { field: 'withdrawalId' } })
      for (const withdrawalId of [live, over]) t.strictSame(await by(name, { withdrawalId }, other), missing, `${name} of another`)
    }
    t.strictSame((await must(by, 'ListPendingWithdrawals', {}, other))['withdrawals'], [])
  })
}

/** Calldata as the vault thread says it, and why there is none. */
async function submit(t: Test, by: Transport, session: Session, withdrawalId: string, nonce: string, deadline: number): Promise<void> {
  const ask = (): Promise<Json> => by('GetWithdrawalCalldata', { withdrawalId }, session) as Promise<Json>
  for (const [unavailable, refused] of [
    ['SIGNER', 'CHAIN_UNAVAILABLE'], ['BUSY', 'OVERLOADED'], ['STOPPED', 'WITHDRAWALS_STOPPED'], ['NOT_SIGNED', 'WITHDRAWAL_STATUS'],
  ] as const) {
    vault = ({ id }) => ({ id, unavailable })
    t.match(await ask(), { refused }, unavailable)
  }
  const asked: CalldataAsk[] = []
  vault = (each) => {
    asked.push(each)
    return { id: each.id, calldata: { chainId: 1328, to: PLACES.vault, data: '0x1234', value: '0', nonce, expiresAt: deadline } }
  }
  t.strictSame(await ask(), {
    withdrawalId, chainId: 1328, to: getAddress(PLACES.vault), data: '0x1234', value: '0', nonce,
    expiresAt: new Date(deadline).toISOString(),
  })
  t.match(asked, [{ type: 'calldata', sequence: Number(nonce) }])
}

/** LOCK when it is made, DEBIT when it is paid, with the transaction. */
async function movements(t: Test, by: Transport, session: Session, withdrawalId: string, txHash: string): Promise<void> {
  const { movements: rows } = await must(by, 'ListMovements', { transactionType: 'WITHDRAWAL' }, session)
  t.match(rows, [
    { entryType: 'DEBIT', amount: '12.500001', balanceAfter: '9987.499999', lockedAfter: '0', referenceId: withdrawalId, txHash },
    { entryType: 'LOCK', amount: '12.500001', balanceAfter: '9987.499999', lockedAfter: '12.500001', referenceId: withdrawalId },
  ])
  t.notOk(rows[1].txHash, 'a lock is of no transaction')
}

t.test('what is wrong with a request is said by field, and nothing is locked', async (t) => {
  const session = await funded()
  const zero = `0x${'0'.repeat(40)}`
  const wrong = getAddress(session.address as `0x${string}`).replace(/[a-f]/, (letter) => letter.toUpperCase())
  for (const [more, code, field] of [
    [{ destination: zero }, 'VALIDATION_ERROR', 'destination'], [{ destination: wrong }, 'VALIDATION_ERROR', 'destination'],
    [{ destination: PLACES.vault }, 'VALIDATION_ERROR', 'destination'],
    [{ destination: PLACES.factory }, 'VALIDATION_ERROR', 'destination'],
    [{ destination: usdc!.token }, 'VALIDATION_ERROR', 'destination'], [{ destination: '0x12' }, 'VALIDATION_ERROR', 'destination'],
    [{ amount: '0' }, 'VALIDATION_ERROR', 'amount'], [{ amount: '-1' }, 'VALIDATION_ERROR', 'amount'],
    [{ amount: '0.0000001' }, 'VALIDATION_ERROR', 'amount'], [{ amount: '9'.repeat(28) }, 'VALIDATION_ERROR', 'amount'],
    [{ assetId: sei!.id }, 'VALIDATION_ERROR', 'assetId'], [{ assetId: NO_WITHDRAWAL }, 'NOT_FOUND', 'assetId'],
    [{ idempotencyKey: '' }, 'VALIDATION_ERROR', 'idempotencyKey'], [{ amount: '10000.000001' }, 'INSUFFICIENT_BALANCE', 'amount'],
  ] as const) {
    for (const [way, by] of Object.entries(TRANSPORTS)) {
      t.match(await initiate(by, session, more), { refused: code, details: { field } }, `${JSON.stringify(more)} over ${way}`)
    }
  }
  t.match(await initiate(rest, session, { amount: '10001' }), { details: { required: '10001', available: '10000', asset: 'USDC' } })
  t.strictSame(await balance(session), ['10000', '0'])
  const upper = `0x${session.address.slice(2).toUpperCase()}`
  t.match(await initiate(rest, session, { destination: upper }), { destination: getAddress(session.address as `0x${string}`) })
  const inEth = await must(rest, 'InitiateWithdrawal', { assetId: eth!.id, amount: '0.100000001' }, session)
  t.match(inEth, { amount: '0.100000001', amountRaw: '100000001000000000' }, 'to the last digit')
})

t.test('a key is one withdrawal', async (t) => {
  const session = await funded()
  const keyed = { idempotencyKey: 'out' }
  const first = await initiate(rest, session, keyed)
  for (const [way, by] of Object.entries(TRANSPORTS)) {
    t.strictSame(withNull(await initiate(by, session, keyed)), first, `again over ${way}`)
    const inOtherWords = { ...keyed, amount: '10.00', destination: session.address }
    t.strictSame(withNull(await initiate(by, session, inOtherWords)), first)
    t.match(await initiate(by, session, { ...keyed, amount: '11' }), { refused: 'IDEMPOTENCY_KEY_CONFLICT' })
    t.match(await initiate(by, session, { ...keyed, destination: `0x${'12'.repeat(20)}` }), { refused: 'IDEMPOTENCY_KEY_CONFLICT' })
  }
  t.strictSame(await balance(session), ['9990', '10'])
  await advance(harness, first['id'], 'FAILED')
  t.strictSame(await initiate(rest, session, keyed), { ...first, status: 'FAILED' }, 'when it is over, as it is by then')
  t.strictSame(await balance(session), ['10000', '0'])
})

t.test('who may not', async (t) => {
  const session = await funded()
  const sub = `0x${'5b'.repeat(20)}`
  await makeSubAccount(harness, session, sub)
  const [member, agent] = [await harness.openSession(0, sub), (await delegate(harness, session)).session]
  t.match(await must(rest, 'GetProfile', {}, member), { canWithdraw: false })
  const { id: withdrawalId } = await initiate(rest, session)
  for (const [way, by] of Object.entries(TRANSPORTS)) {
    t.match(await initiate(by, member), { refused: 'MASTER_ONLY' }, way)
    for (const [name, input] of [
      ['InitiateWithdrawal', { assetId: usdc!.id, amount: '1' }], ['GetWithdrawal', { withdrawalId }], ['ListPendingWithdrawals', {}],
      ['GetWithdrawalCalldata', { withdrawalId }],
    ] as const) t.match(await by(name, input, agent), { refused: 'AGENT_NOT_ALLOWED' }, `${name} by an agent over ${way}`)
  }
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 1 })
  t.match(await initiate(rest, session), { refused: 'OPERATIONS_BLOCKED' })
  t.match(await read(rest, session, withdrawalId), { id: withdrawalId }, 'it is still read')
  t.match(await must(rest, 'GetProfile', {}, session), { canWithdraw: false })
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 0 })
  await stopWithdrawals(harness, WithdrawalStop.OPERATOR)
  t.match(await initiate(rest, session), { refused: 'WITHDRAWALS_STOPPED' })
  t.match(await must(rest, 'GetProfile', {}, session), { canWithdraw: false })
  await stopWithdrawals(harness, WithdrawalStop.NONE)
  t.match(await must(rest, 'GetProfile', {}, session), { canWithdraw: true })
})

t.test('behind its deadline there is no calldata, and when it is EXPIRED the funds are back', async (t) => {
  const session = await funded()
  const { id: withdrawalId } = await initiate(rest, session)
  vault = () => null
  await advance(harness, withdrawalId, 'SIGNED', { deadline: Math.ceil(Date.now() / 1000) * 1000 + 5000 })
  const ask = (): Promise<Json> => rest('GetWithdrawalCalldata', { withdrawalId }, session) as Promise<Json>
  // While it is good the vault thread is asked, which is silent here.
  await until('the deadline', async () => Date.now() > Date.parse((await read(rest, session, withdrawalId))['expiresAt']) + 100)
  t.match(await ask(), { refused: 'WITHDRAWAL_STATUS', details: { status: 'SIGNED' }, message: /its time is over/ })
  t.strictSame(await balance(session), ['9990', '10'], 'it may have been submitted in time')
  await advance(harness, withdrawalId, 'EXPIRED')
  t.match(await read(rest, session, withdrawalId), { status: 'EXPIRED' })
  t.strictSame(await balance(session), ['10000', '0'])
  const { movements: rows } = await must(rest, 'ListMovements', { transactionType: 'WITHDRAWAL' }, session)
  t.match(rows, [{ entryType: 'UNLOCK', referenceId: withdrawalId }, { entryType: 'LOCK', referenceId: withdrawalId }])
})

t.test('terms of the operator', async (t) => {
  const session = await funded()
  await setTerms(harness, usdc!.index, { minimum: 5_000_000n, userDaily: 100_000_000n, approvalAbove: 50_000_000n })
  t.match(await initiate(rest, session, { amount: '4.999999' }), {
    refused: 'WITHDRAWAL_TOO_SMALL', details: { field: 'amount', minimum: '5', asset: 'USDC' }, message: /5 USDC/,
  })
  t.match(await initiate(rest, session, { amount: '100.000001' }), { refused: 'WITHDRAWAL_LIMIT', details: { field: 'amount' } })
  const { id: withdrawalId } = await initiate(rest, session, { amount: '60' })
  t.match(await read(rest, session, withdrawalId), { status: 'PENDING', needsApproval: true })
  t.match(await rest('GetWithdrawalCalldata', { withdrawalId }, session), { refused: 'WITHDRAWAL_STATUS', message: /approval/ })
  await review(harness, withdrawalId, true)
  t.match(await read(rest, session, withdrawalId), { status: 'PENDING', needsApproval: false })
  t.match(await initiate(rest, session, { amount: '41' }), { refused: 'WITHDRAWAL_LIMIT' }, 'both are of one day')
  await review(harness, withdrawalId, false)
  t.match(await read(rest, session, withdrawalId), { status: 'CANCELLED' })
  t.strictSame(await balance(session), ['10000', '0'])
  await setTerms(harness, usdc!.index, {})
})

t.test('the list: newest first, in pages of either kind, as many as there may be', async (t) => {
  const session = await funded()
  const ids: string[] = []
  for (let i = 0; i < 12; i++) ids.unshift((await initiate(rest, session, { amount: '1' }))['id'])
  t.match(await initiate(rest, session), { refused: 'TOO_MANY_WITHDRAWALS' })
  const named = ({ withdrawals }: Json): string[] => withdrawals.map(({ id }: Json) => id)
  t.strictSame(named(await must(rest, 'ListPendingWithdrawals', {}, session)), ids)
  const second = await must(rest, 'ListPendingWithdrawals', { page: 2, pageSize: 5 }, session)
  t.match(second, { page: 2, pageSize: 5, total: 12, totalPages: 3 })
  t.strictSame(named(second), ids.slice(5, 10))
  const walked: string[] = []
  let pageToken = ''
  for (let i = 0; i < 3; i++) {
    const part = await must(TRANSPORTS['gRPC']!, 'ListPendingWithdrawals', { pageToken, pageSize: 5 }, session)
    walked.push(...named(part))
    pageToken = part['nextPageToken']
  }
  t.strictSame([walked, pageToken], [ids, ''])
})

t.test('the balances channel tells when it locks, and when it ends', async (t) => {
  const session = await funded()
  const socket = await SocketClient.open(harness.port)
  t.teardown(() => socket.close())
  await socket.authenticate(signerOf(session))
  await socket.subscribe('balances')
  const told = async (available: string, locked: string): Promise<Json> => socket.next(({ channel, data }) =>
    channel === 'balances' && data?.assetId === usdc!.id && data.availableBalance === available && data.lockedBalance === locked)
  const { id } = await initiate(rest, session)
  t.match(await told('9990', '10'), { type: 'balance_update', reason: 'withdrawal', data: { reasons: ['withdrawal'] } })
  const { length } = socket.frames
  await advance(harness, id, 'SIGNED', { deadline: soon() })
  await advance(harness, id, 'CONFIRMED', { txHash: hashOf('d') })
  t.match(await told('9990', '0'), { reason: 'withdrawal', data: { reasons: ['withdrawal'] } })
  t.equal(socket.of('balances', length).length, 1, 'what goes on between tells nothing')
})
