/**
 * Promise: ccxt's verbs for money in and out have ccxt's structures, send what was said and nothing else, and refuse what they have no word
 * for. Against a client in this file; the real service is in wire/withdrawals and interop/guide_money.
 */
import t from 'tap'
import { BadSymbol, NotSupported, Ringbook } from '../../gateway/client/ccxt/index.ts'
import type { Client } from '../../gateway/client/index.ts'
import { withdrawal, movement } from '../../gateway/operations/example_values.ts'
import { misfits, TRANSACTION } from '../support/ccxt_shapes.ts'

const PAIR = {
  id: 'eth', symbol: 'ETH/USDC', marketType: 'SPOT', baseToken: 'ETH', quoteToken: 'USDC', baseAssetId: 'b',
  quoteAssetId: withdrawal.assetId, isActive: true, takerFeeBps: '5', makerFeeBps: '1', lotSize: '0.001', tickSize: '0.5',
  minOrderSize: '0.001', maxOrderSize: '10', minNotional: '1', baseAmountDecimals: 9, quoteAmountDecimals: 6,
}
const TX = `0x${'ab'.repeat(32)}`
const timeOf = (minute: number): string => `2026-01-01T00:0${minute}:00.000Z`
const DEPOSITS = [5, 3, 1].map((minute) => ({
  ...movement, id: `m${minute}`, entryType: 'CREDIT', transactionType: 'DEPOSIT', amount: `${minute}.5`, txHash: TX, referenceId: null,
  createdAt: timeOf(minute),
}))

function venueOf(depositAddress: string | null = '0x1', record: object = withdrawal): { venue: Ringbook; called: [string, object][] } {
  const called: [string, object][] = []
  const answers: Record<string, (input: any) => object> = {
    ListTradingPairs: () => ({ tradingPairs: [PAIR], totalPages: 1 }),
    InitiateWithdrawal: () => ({ ...withdrawal, status: 'PENDING', expiresAt: null }),
    GetWithdrawal: () => record,
    ListMovements: ({ startTime = 0 }) =>
      ({ movements: DEPOSITS.filter(({ createdAt }) => Date.parse(createdAt) >= Number(startTime)), nextPageToken: '' }),
    GetProfile: () => ({ depositAddress }),
  }
  const entries = Object.entries(answers).map(([name, answer]) => [name, async (input: object = {}) => {
    called.push([name, input])
    return answer(input)
  }])
  return { venue: new Ringbook({ client: { signer: {}, ...Object.fromEntries(entries) } as Client }), called }
}

t.test('withdraw', async (t) => {
  const { venue, called } = venueOf()
  const made = await venue.withdraw('USDC', 250.0000009, withdrawal.destination, undefined, { idempotencyKey: 'k' })
  t.strictSame(misfits(made, TRANSACTION), [])
  const { id, destination: address } = withdrawal
  t.match(made, { id, type: 'withdrawal', currency: 'USDC', amount: 250, status: 'pending', address })
  const asked = { assetId: withdrawal.assetId, amount: '250', destination: withdrawal.destination, idempotencyKey: 'k' }
  t.strictSame(called.at(-1), ['InitiateWithdrawal', asked], 'cut to the digits of the asset')
  const { length } = called
  await t.rejects(venue.withdraw('USDC', 1, '0x1', 'memo'), NotSupported)
  await t.rejects(venue.withdraw('USDC', 1, '0x1', undefined, { network: 'ERC20' }), NotSupported)
  await t.rejects(venue.withdraw('NOPE', 1, '0x1'), BadSymbol)
  t.equal(called.length, length, 'nothing was sent')
})

t.test('fetchWithdrawal, in every status', async (t) => {
  for (const [status, unified] of [
    ['PENDING', 'pending'], ['SIGNED', 'pending'], ['SUBMITTED', 'pending'], ['CONFIRMED', 'ok'], ['FAILED', 'failed'],
    ['EXPIRED', 'failed'], ['CANCELLED', 'canceled'],
  ]) {
    const { venue } = venueOf(null, { ...withdrawal, status, txHash: TX })
    const found = await venue.fetchWithdrawal(withdrawal.id)
    t.match(found, { status: unified, txid: TX, currency: 'USDC', datetime: withdrawal.createdAt }, status)
    t.strictSame(misfits(found, TRANSACTION), [])
  }
})

t.test('fetchDeposits and fetchDepositAddress', async (t) => {
  const { venue, called } = venueOf()
  const found = await venue.fetchDeposits('USDC')
  t.same(found.map(({ id, amount }) => [id, amount]), [['m1', 1.5], ['m3', 3.5], ['m5', 5.5]], 'oldest first')
  t.match(found[0], { type: 'deposit', status: 'ok', txid: TX, currency: 'USDC', timestamp: Date.parse(timeOf(1)) })
  t.strictSame(misfits(found[0], TRANSACTION), [])
  t.match(called.at(-1), ['ListMovements', { transactionType: 'DEPOSIT', assetId: withdrawal.assetId }])
  t.same((await venue.fetchDeposits(undefined, Date.parse(timeOf(2)))).map(({ id }) => id), ['m3', 'm5'])
  t.match(await venue.fetchDepositAddress('ETH'), { currency: 'ETH', address: '0x1', tag: undefined })
  await t.rejects(venue.fetchDepositAddress('NOPE'), BadSymbol)
  await t.rejects(venueOf(null).venue.fetchDepositAddress('ETH'), NotSupported, 'without a vault')
  for (const verb of ['withdraw', 'fetchWithdrawal', 'fetchDeposits', 'fetchDepositAddress']) t.ok(venue.has[verb])
})
