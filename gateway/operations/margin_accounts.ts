/**
 * Margin accounts of the caller: read them, make and close margin sub-accounts. Moving collateral is margin_transfers.ts.
 *
 * Every user has one parent per application. It has its id before it is made, which its first deposit or order does; until then it reads
 * as an empty one. A sub-account that was closed is no more: its row may be another's, and its id is a missing one.
 */
import Type from 'typebox'
import { CLOSED_MARGIN_ACCOUNT_ANSWER, MARGIN_ACCOUNT_ANSWER } from '../../core/layout/answers.ts'
import { marginAccountId, parentMarginId } from '../../core/layout/ids.ts'
import { MarginAccountKind } from '../../core/view/margin.ts'
import { readAccount, readBalances } from '../../core/view/accounts.ts'
import { readMarginAccount, readMarginAccounts, type MarginAccountView } from '../../core/view/margin.ts'
import { freeOf } from '../../core/view/margin_figures.ts'
import { encodeCloseMarginAccount, encodeOpenMarginAccount } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { NAME_BYTES, nameOf } from './agent_record.ts'
import { amountText } from './amounts.ts'
import { limitedTo } from './engine_refusal.ts'
import * as sample from './example_values.ts'
import { ListingOutput, ListingQuery, PAGES } from './listing.ts'
import { listLive } from './live_listing.ts'
import { pairOf } from './lookup.ts'
import {
  accountRecord, collateralOf, findMarginAccount, findMarginSub, isolatedRecord, MarginAccountRecord, marginAccountIdField, marginIdOf,
} from './margin_summary.ts'
import { Decimal, operation, pendingRequest, submit, Uuid } from './operation.ts'
import { COMMAND, READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

const MarginPath = Type.Object({ marginAccountId: marginAccountIdField })

/** A parent stands where its user was made, so that making it does not move it in the listing. */
const positionOf = ({ state }: Gateway, account: number) => ({ kind, createdSequence, row }: MarginAccountView) =>
  kind === MarginAccountKind.PARENT ? { sequence: readAccount(state, account).createdSequence, index: 0 }
    : { sequence: createdSequence, index: row }

export const ListMarginAccounts = operation({
  service: 'MarginAccountsService', method: 'GET', path: '/api/v1/margin/accounts',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Margin accounts',
  description: `The caller's parent margin account and its margin sub-accounts, newest first, so the parent is the last. ${PAGES}`,
  answer: 'A page of margin accounts.',
  refusals: ['NOT_FOUND', ...READ],
  query: Type.Object({
    ...ListingQuery,
    state: Type.Optional(field(
      Type.Union([Type.Literal('ACTIVE'), Type.Literal('CLOSED')]), 'ACTIVE: not closed. Closed margin sub-accounts are not kept.',
    )),
  }),
  output: Type.Object({ accounts: field(Type.Array(MarginAccountRecord), 'Newest first.'), ...ListingOutput }),
  example: { input: { page: 1, pageSize: 20 }, output: { accounts: [sample.marginAccount], ...sample.page } },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const read = () => (input.state === 'CLOSED' ? [] : readMarginAccounts(gateway.state, gateway.gate, call.account))
    listLive(gateway, call, 'ListMarginAccounts', input, read, positionOf(gateway, call.account), (rows, fields) =>
      call.answer({ accounts: rows.map((margin) => accountRecord(gateway, asset, call.account, margin)), ...fields }))
  },
})

export const GetMarginAccount = operation({
  service: 'MarginAccountsService', method: 'GET', path: '/api/v1/margin/accounts/{marginAccountId}',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'One margin account',
  description: 'Figures of a margin account with all its risk buckets. With `tradingPairId`, those of its isolated bucket of that pair '
    + 'without a strategy key: before an order has made it, those that it would begin with.',
  answer: 'The margin account.',
  refusals: ['NOT_FOUND', ...READ],
  params: MarginPath,
  query: Type.Object({ tradingPairId: Type.Optional(fields.pairName) }),
  output: MarginAccountRecord,
  example: { input: { marginAccountId: sample.PARENT_MARGIN }, output: sample.marginAccount },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const margin = findMarginAccount(gateway, call.account, input.marginAccountId)
    if (margin instanceof Refused) return call.refuse(margin)
    if (input.tradingPairId === undefined) return call.answer(accountRecord(gateway, asset, call.account, margin))
    const pair = pairOf(gateway, input.tradingPairId)
    if (pair instanceof Refused) return call.refuse(pair)
    if (pair.perp === null) return call.refuse(refusedField('tradingPairId', 'tradingPairId must be a perpetual'))
    call.answer(isolatedRecord(gateway, asset, call.account, margin, pair.index))
  },
})

export const GetAvailableCollateral = operation({
  service: 'MarginAccountsService', method: 'GET', path: '/api/v1/margin/available-collateral',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Collateral that can be moved',
  description: 'What a deposit could take from the wallet balance, and what the margin account has that no risk bucket does: transfers out '
    + 'of it, transfers to buckets and sub-accounts, and orders may take that.',
  answer: 'The amounts.',
  refusals: ['NOT_FOUND', ...READ],
  query: Type.Object({
    marginAccountId: Type.Optional(field(Uuid, 'Margin account; absent: the parent.')),
  }),
  output: Type.Object({
    assetId: fields.assetId, token: fields.token, symbol: fields.symbol,
    marginAccountId: marginAccountIdField,
    walletBalance: field(Decimal, 'Available balance of the wallet, which a deposit may take.'),
    availableCollateral: field(Decimal, 'Collateral of the margin account that no risk bucket has.'),
  }),
  example: {
    input: {},
    output: {
      assetId: sample.USDC, token: sample.usdc.token, symbol: 'USDC', marginAccountId: sample.PARENT_MARGIN, walletBalance: '7000',
      availableCollateral: '1500',
    },
  },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const { state, gate } = gateway
    const id = input.marginAccountId ?? parentMarginId(readAccount(state, call.account).createdSequence, call.account)
    const margin = findMarginAccount(gateway, call.account, id)
    if (margin instanceof Refused) return call.refuse(margin)
    const balances = readBalances(state, gate, call.account)
    if (balances === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    call.answer({
      assetId: asset.id, token: asset.token, symbol: asset.symbol, marginAccountId: marginIdOf(gateway, call.account, margin),
      walletBalance: amountText(asset, balances[asset.index]!.available),
      availableCollateral: amountText(asset, freeOf(margin)),
    })
  },
})

export const CreateMarginSubAccount = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/sub-accounts',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'none',
  summary: 'Make a margin sub-account',
  description: 'Makes a margin account beside the parent, with collateral and risk buckets of its own. It is not idempotent: each request '
    + 'makes one.',
  answer: 'The margin sub-account.',
  refusals: ['NOT_FOUND', 'TOO_MANY_MARGIN_ACCOUNTS', ...COMMAND],
  body: Type.Object({
    label: Type.Optional(field(Type.String({ minLength: 1, maxLength: NAME_BYTES }), 'Name of your own, at most 32 bytes of UTF-8.')),
  }),
  bodyRule: 'optional',
  output: MarginAccountRecord,
  example: { input: { label: 'basis' }, output: sample.marginSub },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const label = nameOf('label', input.label)
    if (label instanceof Refused) return call.refuse(label)
    const { at: answered } = MARGIN_ACCOUNT_ANSWER
    const pending = pendingRequest(call, ({ i32, f64 }, base) => {
      const [row, sequence] = [i32[base + answered.marginAccount]!, f64[(base + answered.createdSequence) >>> 1]!]
      const margin = readMarginAccount(gateway.state, gateway.gate, call.account, row, sequence)
      // It was made; only the answer could not be read.
      if (margin === null || margin === undefined) call.refuse(new Refused('SERVICE_UNAVAILABLE'))
      else call.answer(accountRecord(gateway, asset, call.account, margin))
    }, limitedTo('TOO_MANY_MARGIN_ACCOUNTS', gateway.genesis.limits.marginSubAccounts))
    submit(gateway, call, pending, (at, correlation) => encodeOpenMarginAccount(gateway.engine, at, correlation, call, label))
  },
})

export const CloseMarginSubAccount = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/sub-accounts/{marginAccountId}/close',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Close a margin sub-account',
  description: 'Settles and closes its risk buckets and moves all its collateral to the parent, in one step. It must have no position and '
    + 'no order, and none of its buckets may be in liquidation or in bad debt; otherwise nothing moves.',
  answer: 'It is closed.',
  refusals: ['NOT_FOUND', 'MARGIN_ACCOUNT_NOT_FLAT', 'RISK_BUCKET_IN_LIQUIDATION', ...READ, ...COMMAND],
  params: MarginPath,
  output: Type.Object({
    marginAccountId: field(Uuid, 'The one that was closed.'),
    defaultMarginAccountId: field(Uuid, 'The parent, which has its collateral now.'),
    amount: field(Decimal, 'Collateral that moved to the parent.'),
  }),
  example: {
    input: { marginAccountId: sample.MARGIN_SUB },
    output: { marginAccountId: sample.MARGIN_SUB, defaultMarginAccountId: sample.PARENT_MARGIN, amount: '250' },
  },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const margin = findMarginSub(gateway, call.account, input.marginAccountId)
    if (margin instanceof Refused) return call.refuse(margin)
    const { row, createdSequence } = margin
    const pending = pendingRequest(call, ({ i64 }, base) => call.answer({
      marginAccountId: marginAccountId(createdSequence, row),
      defaultMarginAccountId: parentMarginId(readAccount(gateway.state, call.account).createdSequence, call.account),
      amount: amountText(asset, i64[(base + CLOSED_MARGIN_ACCOUNT_ANSWER.at.amount) >>> 1]!),
    }))
    submit(gateway, call, pending, (at, correlation) =>
      encodeCloseMarginAccount(gateway.engine, at, correlation, call, row, createdSequence))
  },
})
