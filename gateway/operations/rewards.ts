/**
 * Rewards of referrers: what the caller earned of the fees of those it brought, and their transfer to its balance (specification, Referral
 * program). The engine accrues them at each fill (core/ledger/rewards.ts) and decides about transfers (core/programs/referrals.ts).
 *
 * A transfer with an idempotency key that cannot be sent, or whose answer does not come, is ORDER_SUBMISSION_UNAVAILABLE: repeating it with
 * the key finds out. Keys are shared with orders. Without a key the balance tells.
 */
import Type from 'typebox'
import { REWARDS_ANSWER } from '../../core/layout/answers.ts'
import { movementId } from '../../core/layout/ids.ts'
import type { Asset } from '../../core/state/genesis.ts'
import { readRewards } from '../../core/view/referrals.ts'
import { encodeTransferRewards } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { Amount, amountText, atomsOf } from './amounts.ts'
import { Address } from './auth.ts'
import { transferRefusal } from './engine_refusal.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { idempotencyKey, keyOf, REPEATED, submitKeyed } from './idempotency.ts'
import { Decimal, operation, pendingRequest, Uuid } from './operation.ts'
import { COMMAND, KEYED, READ } from './refusal_groups.ts'
import { field } from './schema.ts'

/** The movement of a transfer is the first of its command. */
const MOVEMENT = 0

const assetOfToken = ({ genesis }: Gateway, token: string): Asset | Refused =>
  genesis.assets.find((asset) => asset.token.toLowerCase() === token.toLowerCase()) ??
  new Refused('NOT_FOUND', 'Asset not found', { field: 'token' })

export const GetRewardsBalance = operation({
  service: 'ReferralsService', method: 'GET', path: '/api/v1/refprog/rewards/balance',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Rewards of the caller',
  description: 'What the caller earned of the fees of those it brought and did not transfer yet, by token. It grows with each of their '
    + 'fills, in the token of the fee.',
  answer: 'Tokens with rewards; none when there are none.',
  refusals: READ,
  output: Type.Object({
    balances: field(Type.Array(Type.Object({
      token: fields.token, available: field(Decimal, 'What may be transferred, in units of the token.'),
    })), 'In the order of the listing of assets.'),
  }),
  example: { input: {}, output: { balances: [{ token: sample.usdc.token, available: '1.25' }] } },
  run: (gateway, call) => {
    const rewards = readRewards(gateway.state, gateway.gate, call.account)
    if (rewards === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const { assets } = gateway.genesis
    call.answer({
      balances: rewards.flatMap((atoms, index) => {
        const asset = assets[index]
        return atoms === 0n || asset === undefined ? [] : [{ token: asset.token, available: amountText(asset, atoms) }]
      }),
    })
  },
})

const exampleTransfer = { token: sample.usdc.token, amount: '1.25' }

export const TransferRewards = operation({
  service: 'ReferralsService', method: 'POST', path: '/api/v1/refprog/rewards/transfer',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Move rewards to the balance',
  description: `Moves rewards of one token to what the caller has available. ${REPEATED}`,
  answer: 'They were moved.',
  refusals: ['NOT_FOUND', 'INSUFFICIENT_BALANCE', ...KEYED, ...COMMAND],
  body: Type.Object({
    token: field(Address, 'Token of the rewards, as GetRewardsBalance has it.'),
    amount: field(Amount, 'In units of the token; positive, at most what is there.'),
    idempotencyKey,
  }),
  output: Type.Object({
    token: fields.token, amount: fields.amount, movementId: field(Uuid, 'The movement, of type REFERRAL_REWARD.'),
  }),
  example: {
    input: { ...exampleTransfer, idempotencyKey: '2f1c7c0e-rewards-1' },
    output: { ...exampleTransfer, movementId: movementId(52, MOVEMENT) },
  },
  run: (gateway, call, input) => {
    const asset = assetOfToken(gateway, input.token)
    if (asset instanceof Refused) return call.refuse(asset)
    const amount = atomsOf(asset, 'amount', input.amount, 1n)
    if (amount instanceof Refused) return call.refuse(amount)
    const key = keyOf(input.idempotencyKey)
    if (key instanceof Refused) return call.refuse(key)
    const answer = ({ f64 }: { readonly f64: Float64Array }, base: number): void => {
      // A repeated transfer speaks of the first one's command.
      const sequence = f64[(base + REWARDS_ANSWER.at.transferSequence) >>> 1]!
      call.answer({ token: asset.token, amount: amountText(asset, amount), movementId: movementId(sequence, MOVEMENT) })
    }
    const pending = pendingRequest(call, answer, (records, base) => transferRefusal(gateway, records, base))
    submitKeyed(gateway, call, key, pending, (at, correlation) =>
      encodeTransferRewards(gateway.engine, at, correlation, call, { asset: asset.index, amount, key }))
  },
})
