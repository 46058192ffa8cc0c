/**
 * Withdrawals: what the caller takes out of the exchange, to an address of the settlement chain (specification, Money in and out).
 *
 * The request locks the funds in one sequenced step (core/programs/withdrawals.ts). Then the vault thread lets it be signed, the caller
 * fetches the calldata and submits it himself, and the chain says what became of it. Only masters withdraw, with a session of their own.
 *
 * A request with an idempotency key that cannot be sent, or whose answer does not come, is ORDER_SUBMISSION_UNAVAILABLE: repeating it with
 * the key finds out. Keys are shared with orders. A repeated request answers with the same withdrawal as it is by then.
 */
import Type, { type Static } from 'typebox'
import { WITHDRAWAL_ANSWER } from '../../core/layout/answers.ts'
import { withdrawalId, type Id } from '../../core/layout/ids.ts'
import { WithdrawalStatus } from '../../core/layout/vault.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { withdrawalAt, withdrawalsOf, type WithdrawalView } from '../../core/view/vault.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { encodeWithdrawal } from '../bridge/encode.ts'
import { askHistory } from '../bridge/history.ts'
import type { WithdrawalTerms } from '../bridge/terms.ts'
import { rawOf } from '../chain/vault/amounts.ts'
import type { Unavailable } from '../chain/vault/messages.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { Amount, atomsOf } from './amounts.ts'
import { Address } from './auth.ts'
import { destinationOf } from './destination.ts'
import { withdrawalRefusal } from './engine_refusal.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { idempotencyKey, keyOf, submitKeyed } from './idempotency.ts'
import { ListingOutput, ListingQuery, PAGES } from './listing.ts'
import { listLive } from './live_listing.ts'
import { assetOf } from './lookup.ts'
import { operation, pendingRequest, rfc3339, Timestamp, Uuid, type Call } from './operation.ts'
import { COMMAND, HISTORY, KEYED, READ } from './refusal_groups.ts'
import { field } from './schema.ts'
import {
  finishedRecord, hubTokenOf, nonceField, noWithdrawal, statusName, withdrawalNamed, WithdrawalRecord, withdrawalRecord,
} from './withdrawal_record.ts'

const Body = Type.Object({
  assetId: fields.assetId,
  amount: field(Amount, 'In units of the asset; positive, with at most its amountDecimals digits behind the point.'),
  destination: Type.Optional(field(
    Address, 'Who is paid on the settlement chain: in lower case, or in EIP-55 form, whose checksum must be right. Absent: the wallet of '
      + 'the account.',
  )),
  idempotencyKey,
})

/** What the body asks for, in the units of the command; or the refusal of the field that is wrong. */
function termsOf(gateway: Gateway, account: number, input: Static<typeof Body>): WithdrawalTerms | Refused {
  const { genesis, state, vault: { places } } = gateway
  const asset = assetOf(gateway, input.assetId)
  if (asset instanceof Refused) return asset
  const amount = atomsOf(asset, 'amount', input.amount, 1n)
  if (amount instanceof Refused) return amount
  const key = keyOf(input.idempotencyKey)
  if (key instanceof Refused) return key
  const token = hubTokenOf(genesis, asset)
  if (token === undefined) return refusedField('assetId', `${asset.symbol} cannot be withdrawn: the settlement chain has no token of it`)
  if (rawOf(amount, token.decimals, asset.scale) === null) {
    return refusedField('amount', `amount must have at most ${token.decimals} digits behind the point, as the token on the chain does`)
  }
  if (places === null) return new Refused('CHAIN_UNAVAILABLE')
  const wallet = `0x${Buffer.from(readAccount(state, account).address).toString('hex')}`
  const destination = destinationOf(input.destination ?? wallet, places, token)
  return destination instanceof Refused ? destination : { asset: asset.index, amount, destination, key }
}

/** The caller's withdrawal under way that has this identity. */
function findLive({ state }: Gateway, account: number, { slot, sequence }: Pick<Id, 'slot' | 'sequence'>): WithdrawalView | null {
  const view = withdrawalAt(state, slot, sequence)
  return view?.account === account ? view : null
}

/** Answers with the withdrawal as it is now; one that is over is in the history. */
function answerWithdrawal(gateway: Gateway, call: Call<WithdrawalRecord>, id: Pick<Id, 'slot' | 'sequence'>): void {
  const live = findLive(gateway, call.account, id)
  if (live !== null) return call.answer(withdrawalRecord(gateway, live))
  const ask = { account: call.account, sequence: id.sequence, row: id.slot }
  askHistory(gateway.history, 'withdrawal', ask, (found) => {
    if (found instanceof Refused) call.refuse(found)
    else if (found === null) call.refuse(noWithdrawal())
    else call.answer(finishedRecord(gateway, found))
  })
}

export const InitiateWithdrawal = operation({
  service: 'WithdrawalsService', method: 'POST', path: '/api/v1/withdrawals',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Withdraw',
  description: 'Locks the amount, to be paid to an address of the settlement chain. Once it is SIGNED, its calldata can be read and '
    + 'submitted to the vault, by anybody, until `expiresAt`; what is not submitted by then is available again some confirmations later. '
    + 'What an account asks for in a UTC day above a threshold of the asset waits for the approval of the operator. What all users get '
    + 'signed in a day is bounded too, with a part of it for small and for first withdrawals: WITHDRAWAL_LIMIT now, or PENDING until '
    + 'another day. With an `idempotencyKey` it may be repeated: nothing is '
    + 'locked again, and the answer is the same withdrawal as it is by then. Only a master withdraws.',
  answer: 'The withdrawal.',
  refusals: [
    'NOT_FOUND', 'INSUFFICIENT_BALANCE', 'MASTER_ONLY', 'WITHDRAWALS_STOPPED', 'WITHDRAWAL_TOO_SMALL', 'WITHDRAWAL_LIMIT',
    'TOO_MANY_WITHDRAWALS', 'CHAIN_UNAVAILABLE', ...KEYED, ...COMMAND, ...HISTORY,
  ],
  body: Body,
  output: WithdrawalRecord,
  example: {
    input: { assetId: sample.USDC, amount: '250', destination: sample.ADDRESS, idempotencyKey: '2f1c7c0e-withdrawal-1' },
    output: { ...sample.withdrawal, status: 'PENDING', expiresAt: null },
  },
  run: (gateway, call, input) => {
    const terms = termsOf(gateway, call.account, input)
    if (terms instanceof Refused) return call.refuse(terms)
    const pending = pendingRequest(
      call,
      // A repeated request speaks of the first one's withdrawal.
      ({ i32, f64 }, base) => answerWithdrawal(gateway, call, {
        slot: i32[base + WITHDRAWAL_ANSWER.at.row]!, sequence: f64[(base + WITHDRAWAL_ANSWER.at.withdrawalSequence) >>> 1]!,
      }),
      (records, base) => withdrawalRefusal(gateway, records, base, terms.asset),
    )
    submitKeyed(gateway, call, terms.key, pending, (at, correlation) => encodeWithdrawal(gateway.engine, at, correlation, call, terms))
  },
})

export const ListPendingWithdrawals = operation({
  service: 'WithdrawalsService', method: 'GET', path: '/api/v1/withdrawals/pending',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Withdrawals under way',
  description: `Withdrawals of the caller that are PENDING, SIGNED or SUBMITTED, newest first. Movements tell of those before. ${PAGES}`,
  answer: 'A page of withdrawals.',
  refusals: READ,
  query: Type.Object(ListingQuery),
  output: Type.Object({ withdrawals: field(Type.Array(WithdrawalRecord), 'Newest first.'), ...ListingOutput }),
  example: { input: { pageSize: 20 }, output: { withdrawals: [sample.withdrawal], ...sample.page } },
  run: (gateway, call, input) => {
    const read = () => withdrawalsOf(gateway.state, call.account)
    const positionOf = ({ sequence, row }: WithdrawalView) => ({ sequence, index: row })
    listLive(gateway, call, 'ListPendingWithdrawals', input, read, positionOf, (rows, pages) =>
      call.answer({ withdrawals: rows.map((view) => withdrawalRecord(gateway, view)), ...pages }))
  },
})

const WithdrawalPath = Type.Object({ withdrawalId: field(Uuid, 'Withdrawal.') })

export const GetWithdrawal = operation({
  service: 'WithdrawalsService', method: 'GET', path: '/api/v1/withdrawals/{withdrawalId}',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'One withdrawal',
  description: "Reads one withdrawal of the caller, of any age. Somebody else's and a missing one are the same 404.",
  answer: 'The withdrawal.',
  refusals: ['NOT_FOUND', ...HISTORY],
  params: WithdrawalPath,
  output: WithdrawalRecord,
  example: { input: { withdrawalId: sample.WITHDRAWAL }, output: sample.withdrawal },
  run: (gateway, call, input) => {
    const id = withdrawalNamed(input.withdrawalId)
    if (id instanceof Refused) return call.refuse(id)
    answerWithdrawal(gateway, call, id)
  },
})

const Calldata = Type.Object({
  withdrawalId: field(Uuid, 'Withdrawal.'),
  chainId: field(Type.Integer(), 'EVM chain id of the settlement chain.'),
  to: field(Type.String(), 'Address of the vault, to which the transaction goes.'),
  data: field(Type.String(), 'Input of the transaction: `withdraw` with the authorisation of the operator, 0x and hex digits.'),
  value: field(Type.String(), 'What the transaction pays, in the native coin: 0.'),
  nonce: nonceField,
  expiresAt: field(Timestamp, 'Until when the vault takes it, by the time of the block.'),
})

const wrongStatus = (status: number, why: string): Refused =>
  new Refused('WITHDRAWAL_STATUS', `The withdrawal is ${statusName(status)}: ${why}`, { status: statusName(status) })

/** Why there is no calldata of a withdrawal under way; `null`: there is. */
function refusedCalldata(gateway: Gateway, { status, deadline, needsApproval }: WithdrawalView): Refused | null {
  if (status === WithdrawalStatus.PENDING) {
    return wrongStatus(status, needsApproval ? 'it waits for the approval of the operator' : 'its authorisation is on the way, try again')
  }
  return deadline > gateway.time() ? null : wrongStatus(status, 'its time is over')
}

/** Why the vault thread gave none. */
function unavailable(gateway: Gateway, view: WithdrawalView, why: Unavailable): Refused {
  if (why === 'STOPPED') return new Refused('WITHDRAWALS_STOPPED')
  if (why === 'BUSY') return new Refused('OVERLOADED')
  // Between what was read here and what it read the status changed.
  if (why === 'NOT_SIGNED' || why === 'EXPIRED') return refusedCalldata(gateway, view) ?? wrongStatus(view.status, 'it changes just now')
  return new Refused('CHAIN_UNAVAILABLE')
}

export const GetWithdrawalCalldata = operation({
  service: 'WithdrawalsService', method: 'GET', path: '/api/v1/withdrawals/{withdrawalId}/calldata',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Calldata of a withdrawal',
  description: 'The transaction that pays it: submit it to the settlement chain with any wallet that has gas there, before `expiresAt`. It '
    + 'pays the destination and nobody else, once. The calldata of one withdrawal is always the same. There is none before SIGNED and none '
    + 'when it is over: 409.',
  answer: 'The transaction.',
  refusals: ['NOT_FOUND', 'WITHDRAWAL_STATUS', 'WITHDRAWALS_STOPPED', 'CHAIN_UNAVAILABLE', 'OVERLOADED', ...HISTORY],
  params: WithdrawalPath,
  output: Calldata,
  example: { input: { withdrawalId: sample.WITHDRAWAL }, output: sample.calldata },
  run: (gateway, call, input) => {
    const id = withdrawalNamed(input.withdrawalId)
    if (id instanceof Refused) return call.refuse(id)
    const live = findLive(gateway, call.account, id)
    if (live === null) return refuseFinished(gateway, call, id)
    const refused = refusedCalldata(gateway, live)
    if (refused !== null) return call.refuse(refused)
    gateway.vault.calldata(live.row, live.sequence, (answer) => {
      if (typeof answer === 'string') return call.refuse(unavailable(gateway, live, answer))
      const { chainId, to, data, value, nonce, expiresAt } = answer
      call.answer({
        withdrawalId: withdrawalId(live.sequence, live.row), chainId, to: checksumAddress(to), data, value, nonce,
        expiresAt: rfc3339(expiresAt),
      })
    })
  },
})

/** One that is not under way: 409 if the caller had it, otherwise 404. */
function refuseFinished({ history }: Gateway, call: Call<never>, { sequence, slot }: Id): void {
  askHistory(history, 'withdrawal', { account: call.account, sequence, row: slot }, (found) => {
    if (found instanceof Refused) call.refuse(found)
    else call.refuse(found === null ? noWithdrawal() : wrongStatus(found.status, 'there is nothing to submit'))
  })
}
