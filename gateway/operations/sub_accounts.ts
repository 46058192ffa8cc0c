/**
 * Sub-accounts of the caller: make one, list them, move balances to and from them. Only masters have any.
 *
 * A sub-account is a wallet of its own that signs in for itself; it agreed to its master with a signature, and who that is never changes.
 * Without that signature nothing is told about the wallet, whether it is a user or not. Somebody else's sub-account and a missing one are
 * the same 404. What depends on the state (funds, free rows, maintenance) is decided by the engine.
 *
 * Sub-accounts of before consent was asked for are listed, without their balances until they agree: the master cannot take them either.
 *
 * A transfer with an idempotency key that cannot be sent, or whose answer does not come, is ORDER_SUBMISSION_UNAVAILABLE, as an order
 * with one: repeating it with the key finds out. Keys are shared with orders.
 */
import Type, { type Static } from 'typebox'
import { SCALAR } from '../../core/state/columns.ts'
import { SUB_ACCOUNT_ANSWER, TRANSFER_ANSWER } from '../../core/layout/answers.ts'
import { IdKind, movementId, parseId } from '../../core/layout/ids.ts'
import { readAccount, readSessionKey } from '../../core/view/accounts.ts'
import { hasConsented, masterOf, readProfile } from '../../core/view/families.ts'
import { askConsent } from '../auth/sign_in_client.ts'
import type { Caller } from '../auth/signed_request.ts'
import { encodeCreateSubAccount, encodeTransfer } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { addressText, Balance, balanceRecord, balancesOf, userIdOf, usernameText } from './accounts.ts'
import { Amount, amountText, atomsOf } from './amounts.ts'
import { Address, refusalOf, WalletSignature } from './auth.ts'
import { limitedTo, transferRefusal } from './engine_refusal.ts'
import { describeForm } from './schema_errors.ts'
import { operation, rfc3339, submit, Uuid, pendingRequest } from './operation.ts'
import { idempotencyKey, keyOf, REPEATED, submitKeyed } from './idempotency.ts'
import * as sample from './example_values.ts'
import { COMMAND, KEYED, READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { assetOf } from './lookup.ts'

const USERNAME = /^[\x20-\x7e]{1,32}$/
describeForm(USERNAME, '1 to 32 printable ASCII characters')

const SubAccount = record('SubAccount', 'An account of a wallet that another account, its master, made.', Type.Object({
  id: fields.id,
  address: fields.address,
  username: fields.username,
  accountType: field(Type.Literal('sub'), 'master or sub.'),
  isActive: field(Type.Boolean(), 'Whether it may be used.'),
  consented: field(
    Type.Boolean(),
    'Whether its wallet agreed to its master. One linked before that was asked for gives nothing until then.',
  ),
  createdAt: fields.createdAt,
  balances: field(Type.Array(Balance), 'One row per asset, zero balances included; empty in the answer that made it.'),
}))
type SubAccount = Static<typeof SubAccount>

/** The sub-account in row `account`. There is nothing yet that switches one off. */
function subAccountRecord(gateway: Gateway, account: number, balances: SubAccount['balances']): SubAccount {
  const { address, createdAt } = readAccount(gateway.state, account)
  return {
    id: userIdOf(gateway, account),
    address: addressText(address),
    username: usernameText(gateway, account),
    accountType: 'sub',
    isActive: true,
    consented: hasConsented(gateway.state, account),
    createdAt: rfc3339(createdAt),
    balances,
  }
}

/** `null`: the caller is a master and may have sub-accounts. */
export const refuseSub = ({ state }: Gateway, { account }: Caller): Refused | null =>
  masterOf(state, account) < 0 ? null : new Refused('MASTER_ONLY')

/** Row of the caller's sub-account with this id, or why there is none. */
export function findSubAccount(gateway: Gateway, caller: Caller, id: string): number | Refused {
  const { state } = gateway
  const refused = refuseSub(gateway, caller)
  if (refused !== null) return refused
  const found = parseId(IdKind.USER, id)
  const theirs = found !== null && found.slot < state.scalars[SCALAR.ACCOUNTS]! &&
    readAccount(state, found.slot).createdSequence === found.sequence && masterOf(state, found.slot) === caller.account
  return theirs ? found.slot : new Refused('NOT_FOUND', 'Sub-account not found', { field: 'subAccountId' })
}

const exampleSubAccount = {
  id: sample.SUB_ACCOUNT, address: sample.WALLET, username: 'desk-1', accountType: 'sub' as const, isActive: true, consented: true,
  createdAt: sample.MOMENT,
}
const exampleTransfer = { subAccountId: sample.SUB_ACCOUNT, assetId: sample.USDC, amount: '250', direction: 'TO_SUB_ACCOUNT' as const }

export const ListSubAccounts = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/sub-accounts',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Sub-accounts',
  description: 'Every sub-account of the caller, oldest first, with its balances. Only a master has any. One that has not agreed to its '
    + 'master yet is without balances.',
  answer: 'The sub-accounts.',
  refusals: ['MASTER_ONLY', ...READ],
  output: Type.Object({ subAccounts: field(Type.Array(SubAccount), 'Oldest first.') }),
  example: { input: {}, output: { subAccounts: [{ ...exampleSubAccount, balances: [sample.usdc] }] } },
  run: (gateway, call) => {
    const refused = refuseSub(gateway, call)
    if (refused !== null) return call.refuse(refused)
    const profile = readProfile(gateway.state, gateway.gate, call.account)
    if (profile === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const { assets } = gateway.genesis
    const subAccounts: SubAccount[] = []
    for (const account of profile.subAccounts) {
      const balances = hasConsented(gateway.state, account) ? balancesOf(gateway, account) : []
      if (balances === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
      subAccounts.push(subAccountRecord(gateway, account, balances.map((balance) => balanceRecord(assets[balance.asset]!, balance))))
    }
    call.answer({ subAccounts })
  },
})

export const CreateSubAccount = operation({
  service: 'AccountsService', method: 'POST', path: '/api/v1/accounts/sub-accounts',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Make a sub-account',
  description: 'Makes a wallet a sub-account of the caller, in the application of the session. The wallet agrees: it signs the text of a '
    + 'Challenge for its address with `subAccountOf` your wallet and the public key of this session, which says that you control its '
    + 'balances. It must have no account in the application. It signs in for itself and has balances and orders of its own; who its '
    + 'master is never changes. Without its signature the answer is 401, and nothing is told about the wallet.',
  answer: 'The sub-account.',
  refusals: [
    'MASTER_ONLY', 'INVALID_SIGNATURE', 'NONCE_INVALID', 'RATE_LIMIT_EXCEEDED', 'VERIFICATION_UNAVAILABLE', 'ADDRESS_IN_USE',
    'TOO_MANY_SUB_ACCOUNTS', ...COMMAND,
  ],
  body: Type.Object({
    address: field(Address, 'Wallet that becomes a sub-account. It must have no account in the application.'),
    username: Type.Optional(field(Type.String({ pattern: USERNAME.source }), 'Name of 1 to 32 printable ASCII characters.')),
    // Absent they are a missing signature, not a malformed request.
    nonce: Type.Optional(
      field(
        Type.String({ minLength: 1, maxLength: 256 }),
        'Of a challenge for this address with `subAccountOf` your wallet and the public key of your session.',
      ),
    ),
    signature: Type.Optional(field(WalletSignature, 'Signature of that challenge by the wallet of the sub-account: hex, 0x optional.')),
  }),
  output: Type.Object({ subAccount: field(SubAccount, 'The sub-account.') }),
  example: {
    input: { address: sample.WALLET, username: 'desk-1', nonce: sample.NONCE, signature: `0x${'5e'.repeat(64)}1b` },
    output: { subAccount: { ...exampleSubAccount, balances: [] } },
  },
  run: (gateway, call, { address, username, nonce, signature }) => {
    const refused = refuseSub(gateway, call)
    if (refused !== null) return call.refuse(refused)
    if (nonce === undefined || signature === undefined) {
      return call.refuse(new Refused('INVALID_SIGNATURE', 'The wallet has to agree: nonce and signature of its challenge'))
    }
    const pending = pendingRequest(
      call,
      ({ i32 }, base) =>
        call.answer({ subAccount: subAccountRecord(gateway, i32[base + SUB_ACCOUNT_ANSWER.at.subAccount]!, []) }),
      limitedTo('TOO_MANY_SUB_ACCOUNTS', gateway.genesis.limits.subAccountsPerMaster),
    )
    const { application, address: wallet } = readAccount(gateway.state, call.account)
    const master = { master: addressText(wallet), application, sessionPublicKey: readSessionKey(gateway.state, call.session) }
    askConsent(gateway.signIn, { address, nonce, signature, ...master, ip: call.ip() }, (reply) => {
      if ('refusal' in reply) return call.refuse(refusalOf(reply))
      submit(gateway, call, pending, (at, correlation) =>
        encodeCreateSubAccount(gateway.engine, at, correlation, call, address, username ?? ''),
      )
    })
  },
})

const TO_SUB = 'TO_SUB_ACCOUNT'
const Direction = record(
  'TransferDirection', 'TO_SUB_ACCOUNT gives to the sub-account, FROM_SUB_ACCOUNT takes back.',
  Type.Union([Type.Literal(TO_SUB), Type.Literal('FROM_SUB_ACCOUNT')]),
)

/** Movements of a transfer, by their number within the command: the giver's is the first. */
const GIVER = 0
const TAKER = 1

export const TransferSubAccountBalance = operation({
  service: 'AccountsService', method: 'POST', path: '/api/v1/accounts/sub-accounts/transfer',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Move a balance to or from a sub-account',
  description: `Moves what is available, in one step. ${REPEATED}`,
  answer: 'It was moved.',
  refusals: ['MASTER_ONLY', 'NOT_FOUND', 'CONSENT_REQUIRED', 'INSUFFICIENT_BALANCE', ...KEYED, ...COMMAND],
  body: Type.Object({
    subAccountId: fields.subAccountId,
    assetId: fields.assetId,
    amount: field(Amount, 'In units of the asset; positive, with at most its amountDecimals digits behind the point.'),
    direction: field(Direction, 'TO_SUB_ACCOUNT gives, FROM_SUB_ACCOUNT takes back.'),
    idempotencyKey,
  }),
  output: Type.Object({
    movementId: field(Uuid, "The caller's movement."), subAccountId: fields.subAccountId, assetId: fields.assetId,
    token: fields.token, amount: fields.amount, direction: field(
      Direction, 'TO_SUB_ACCOUNT gives, FROM_SUB_ACCOUNT takes back.',
    ),
  }),
  example: {
    input: { ...exampleTransfer, idempotencyKey: '2f1c7c0e-transfer-1' },
    output: { movementId: movementId(52, 0), ...exampleTransfer, token: sample.usdc.token },
  },
  run: (gateway, call, input) => {
    const { direction } = input
    const subAccount = findSubAccount(gateway, call, input.subAccountId)
    if (subAccount instanceof Refused) return call.refuse(subAccount)
    const asset = assetOf(gateway, input.assetId)
    if (asset instanceof Refused) return call.refuse(asset)
    const amount = atomsOf(asset, 'amount', input.amount, 1n)
    if (amount instanceof Refused) return call.refuse(amount)
    const key = keyOf(input.idempotencyKey)
    if (key instanceof Refused) return call.refuse(key)
    const toSub = direction === TO_SUB
    const pending = pendingRequest(call, ({ f64 }, base) =>
      call.answer({
        // The master's of the two movements. A repeated transfer speaks of the first one's command.
        movementId: movementId(f64[(base + TRANSFER_ANSWER.at.transferSequence) >>> 1]!, toSub ? GIVER : TAKER),
        subAccountId: userIdOf(gateway, subAccount),
        assetId: asset.id,
        token: asset.token,
        amount: amountText(asset, amount),
        direction,
      }),
      (records, base) => transferRefusal(gateway, records, base),
    )
    submitKeyed(gateway, call, key, pending, (at, correlation) =>
      encodeTransfer(gateway.engine, at, correlation, call, { subAccount, asset: asset.index, toSub, amount, key }))
  },
})
