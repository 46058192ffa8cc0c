/**
 * What a sub-account's orders may spend of its master's balance, by asset (specification, Sub-account limits). Masters only.
 *
 * `maxAmount` bounds what such orders hold at any time, `dailyLimit` what they spend in a UTC day together with what they
 * hold. A limit is one per sub-account and asset; after it was deleted another may be made. A change keeps what is absent
 * or null, so `noDailyLimit` takes the daily limit away. Limits are read from the shared columns, in one copy with what is
 * held and spent.
 */
import Type, { type Static } from 'typebox'
import type { Asset } from '../../core/state/genesis.ts'
import { LimitChange, LimitField } from '../../core/layout/command.ts'
import { spendLimitId } from '../../core/layout/ids.ts'
import { readSpendLimits, type SpendLimitView } from '../../core/view/families.ts'
import { encodeSpendLimit, type SpendLimitTerms } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { userIdOf } from './accounts.ts'
import { Amount, amountText, atomsOf } from './amounts.ts'
import { Decimal, Nullable, operation, rfc3339, submit, Timestamp, Uuid, pendingRequest, type Call } from './operation.ts'
import { findSubAccount } from './sub_accounts.ts'
import * as sample from './example_values.ts'
import { COMMAND, READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { assetOf } from './lookup.ts'

const SpendLimit = record('SubAccountLimit', 'What orders of a sub-account may spend of its master\'s balance of one asset.', Type.Object({
  id: fields.id,
  subAccountId: fields.subAccountId,
  /** Contract address. */
  token: fields.token,
  dailyLimit: field(Nullable(Decimal), 'Most that they may spend in a UTC day together with what they hold; null: not bounded.'),
  usedToday: field(Decimal, 'Spent by fills since lastResetAt, in units of the asset.'),
  createdAt: fields.createdAt,
  updatedAt: fields.updatedAt,
  masterAccountId: field(Uuid, 'User that is the master.'),
  maxAmount: field(Decimal, 'Most that orders of the sub-account may hold at any time, in units of the asset.'),
  lastResetAt: field(Timestamp, 'The UTC midnight that usedToday counts from.'),
  isActive: field(Type.Boolean(), 'Whether new orders may spend.'),
  assetId: fields.assetId,
  /** Held now by the sub-account's resting orders. */
  outstanding: field(Decimal, 'Held now by resting orders, in units of the asset.'),
}))
type SpendLimit = Static<typeof SpendLimit>

/** A sub-account of the caller and one asset. */
interface Target {
  readonly subAccount: number
  readonly asset: Asset
}

function findTarget(gateway: Gateway, call: Call<never>, input: { subAccountId: string; assetId: string }): Target | Refused {
  const subAccount = findSubAccount(gateway, call, input.subAccountId)
  if (subAccount instanceof Refused) return subAccount
  const asset = assetOf(gateway, input.assetId)
  return asset instanceof Refused ? asset : { subAccount, asset }
}

function limitRecord(gateway: Gateway, master: number, subAccount: number, limit: SpendLimitView): SpendLimit {
  const asset = gateway.genesis.assets[limit.asset]!
  return {
    id: spendLimitId(limit.createdSequence, limit.row),
    subAccountId: userIdOf(gateway, subAccount),
    token: asset.token,
    dailyLimit: limit.dailyLimit === null ? null : amountText(asset, limit.dailyLimit),
    usedToday: amountText(asset, limit.usedToday),
    createdAt: rfc3339(limit.createdAt),
    updatedAt: rfc3339(limit.updatedAt),
    masterAccountId: userIdOf(gateway, master),
    maxAmount: amountText(asset, limit.maxAmount),
    lastResetAt: rfc3339(limit.lastResetAt),
    isActive: limit.isActive,
    assetId: asset.id,
    outstanding: amountText(asset, limit.outstanding),
  }
}

/** The limits of a sub-account as they are now. */
const limitsOf = (gateway: Gateway, subAccount: number): SpendLimitView[] | null =>
  readSpendLimits(gateway.state, gateway.gate, subAccount, gateway.time())

/** Sends one change and answers with the limit after it. */
function change(gateway: Gateway, call: Call<{ limit: SpendLimit }>, { subAccount, asset }: Target, terms: Change): void {
  const pending = pendingRequest(call, () => {
    const limits = limitsOf(gateway, subAccount)
    // It was applied; only the answer could not be read.
    if (limits === null) return call.refuse(new Refused('SERVICE_UNAVAILABLE'))
    const limit = limits.find((each) => each.asset === asset.index)
    // Only when it was deleted meanwhile.
    if (limit === undefined) return call.refuse(new Refused('NOT_FOUND', NO_LIMIT))
    call.answer({ limit: limitRecord(gateway, call.account, subAccount, limit) })
  })
  submit(gateway, call, pending, (at, correlation) =>
    encodeSpendLimit(gateway.engine, at, correlation, call, { ...terms, subAccount, asset: asset.index }),
  )
}

type Change = Omit<SpendLimitTerms, 'subAccount' | 'asset'>
const NO_LIMIT = 'Limit not found'
const UNLIMITED = -1n

/** The amounts of a request in atoms: 0 and {@link UNLIMITED} where it has none. */
function amountsOf(asset: Asset, input: { maxAmount?: string; dailyLimit?: string }): Pick<Change, 'maxAmount' | 'dailyLimit'> | Refused {
  const maxAmount = input.maxAmount === undefined ? 0n : atomsOf(asset, 'maxAmount', input.maxAmount, 0n)
  if (maxAmount instanceof Refused) return maxAmount
  const dailyLimit = input.dailyLimit === undefined ? UNLIMITED : atomsOf(asset, 'dailyLimit', input.dailyLimit, 0n)
  return dailyLimit instanceof Refused ? dailyLimit : { maxAmount, dailyLimit }
}

const exampleLimit = {
  id: spendLimitId(53, 0),
  subAccountId: sample.SUB_ACCOUNT,
  token: sample.usdc.token,
  dailyLimit: '5000',
  usedToday: '120.5',
  createdAt: sample.MOMENT,
  updatedAt: sample.LATER,
  masterAccountId: sample.USER,
  maxAmount: '1000',
  lastResetAt: '2026-01-15T00:00:00.000Z',
  isActive: true,
  assetId: sample.USDC,
  outstanding: '300',
}

export const CreateSubAccountLimit = operation({
  service: 'AccountsService', method: 'POST', path: '/api/v1/accounts/sub-accounts/limits',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Let a sub-account spend your balance',
  description: 'Orders of the sub-account with `useMasterBalance` spend and earn on the balance of its master. They may hold `maxAmount` '
    + 'of the asset at any time, and spend `dailyLimit` in a UTC day together with what they hold. Without a limit of the asset they '
    + 'spend nothing.',
  answer: 'The limit.',
  refusals: ['MASTER_ONLY', 'NOT_FOUND', 'LIMIT_EXISTS', ...COMMAND, ...READ],
  body: Type.Object(
    {
      subAccountId: fields.subAccountId, assetId: fields.assetId,
      maxAmount: field(Amount, 'Most that orders of the sub-account may hold at any time, in units of the asset.'),
      dailyLimit: Type.Optional(field(Amount, 'Most that they may spend in a UTC day together with what they hold; absent: not bounded.')),
    },
  ),
  output: Type.Object({ limit: field(SpendLimit, 'The limit.') }),
  example: {
    input: { subAccountId: sample.SUB_ACCOUNT, assetId: sample.USDC, maxAmount: '1000', dailyLimit: '5000' },
    output: { limit: exampleLimit },
  },
  run: (gateway, call, input) => {
    const target = findTarget(gateway, call, input)
    if (target instanceof Refused) return call.refuse(target)
    const amounts = amountsOf(target.asset, input)
    if (amounts instanceof Refused) return call.refuse(amounts)
    const fields = LimitField.MAX_AMOUNT | LimitField.DAILY_LIMIT | LimitField.ACTIVE
    change(gateway, call, target, { change: LimitChange.CREATE, fields, ...amounts, active: true })
  },
})

export const ListSubAccountLimits = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Limits of a sub-account',
  description: 'What the sub-account may spend of the balance of its master, by asset, with what it has spent today.',
  answer: 'The limits.',
  refusals: ['MASTER_ONLY', 'NOT_FOUND', ...READ],
  params: Type.Object({ subAccountId: fields.subAccountId }),
  output: Type.Object({ limits: field(Type.Array(SpendLimit), 'One per asset at most.') }),
  example: { input: { subAccountId: sample.SUB_ACCOUNT }, output: { limits: [exampleLimit] } },
  run: (gateway, call, input) => {
    const subAccount = findSubAccount(gateway, call, input.subAccountId)
    if (subAccount instanceof Refused) return call.refuse(subAccount)
    const limits = limitsOf(gateway, subAccount)
    if (limits === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    call.answer({ limits: limits.map((limit) => limitRecord(gateway, call.account, subAccount, limit)) })
  },
})

const LimitPath = Type.Object({ subAccountId: fields.subAccountId, assetId: fields.assetId })

export const UpdateSubAccountLimit = operation({
  service: 'AccountsService', method: 'PUT', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Change a limit',
  description: 'What is absent or null stays as it is. A limit below what is held already ends no order; it refuses '
    + 'new ones. `noDailyLimit: true` takes the daily limit away; beside `dailyLimit` it is refused.',
  answer: 'The limit.',
  refusals: ['MASTER_ONLY', 'NOT_FOUND', ...COMMAND, ...READ],
  params: LimitPath,
  body: Type.Object({
    maxAmount: Type.Optional(field(Amount, 'New bound of what may be held; absent: unchanged.')),
    dailyLimit: Type.Optional(field(Amount, 'New daily limit; absent: unchanged.')),
    isActive: Type.Optional(
      field(Type.Boolean(), 'false: no new orders on it until it is true again; absent: unchanged.'),
    ),
    noDailyLimit: Type.Optional(
      field(Type.Boolean(), 'true: from now on there is no daily limit; not together with dailyLimit.'),
    ),
  }),
  output: Type.Object({ limit: field(SpendLimit, 'The limit.') }),
  example: {
    input: { subAccountId: sample.SUB_ACCOUNT, assetId: sample.USDC, maxAmount: '1000', isActive: true },
    output: { limit: exampleLimit },
  },
  run: (gateway, call, input) => {
    const target = findTarget(gateway, call, input)
    if (target instanceof Refused) return call.refuse(target)
    const endless = input.noDailyLimit === true
    if (endless && input.dailyLimit !== undefined) {
      return call.refuse(refusedField('noDailyLimit', 'Send dailyLimit or noDailyLimit, not both'))
    }
    const amounts = amountsOf(target.asset, input)
    if (amounts instanceof Refused) return call.refuse(amounts)
    // Without an amount dailyLimit is UNLIMITED.
    const fields = (input.maxAmount === undefined ? 0 : LimitField.MAX_AMOUNT) |
      (input.dailyLimit === undefined && !endless ? 0 : LimitField.DAILY_LIMIT) |
      (input.isActive === undefined ? 0 : LimitField.ACTIVE)
    change(gateway, call, target, { change: LimitChange.UPDATE, fields, ...amounts, active: input.isActive === true })
  },
})

export const DeleteSubAccountLimit = operation({
  service: 'AccountsService', method: 'DELETE', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Delete a limit',
  description: 'From then on the sub-account places no order on the balance of its master in this asset. Resting ones stay.',
  answer: 'It is deleted.',
  refusals: ['MASTER_ONLY', 'NOT_FOUND', ...COMMAND],
  params: LimitPath,
  output: Type.Object({ deleted: field(Type.Boolean(), 'The limit is deleted.') }),
  example: { input: { subAccountId: sample.SUB_ACCOUNT, assetId: sample.USDC }, output: { deleted: true } },
  run: (gateway, call, input) => {
    const target = findTarget(gateway, call, input)
    if (target instanceof Refused) return call.refuse(target)
    const { subAccount, asset } = target
    const terms = { change: LimitChange.DELETE, fields: 0, maxAmount: 0n, dailyLimit: UNLIMITED, active: false }
    submit(gateway, call, pendingRequest(call, () => call.answer({ deleted: true })), (at, correlation) =>
      encodeSpendLimit(gateway.engine, at, correlation, call, { ...terms, subAccount, asset: asset.index }),
    )
  },
})
