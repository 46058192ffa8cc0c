/**
 * The pools of the state, for an operator: how full they are, who holds most, and the end of anybody's orders
 * (core/view/pools.ts, core/orders/cancel_account.ts).
 *
 * A cancel is as many commands through lane 0 as it takes, 1,000 orders each, one after the other, {@link COMMANDS_MAX}
 * at most in one request; `left` is 1 when more may rest, and asking again goes on. Each command is in the journal; the
 * log has one line for the whole.
 */
import Type from 'typebox'
import { ACCOUNT } from '../../core/state/columns.ts'
import { accountRow, getF64 } from '../../core/view/rows.ts'
import { refusalByNumber, type RefusalCode } from '../../core/layout/refusals.ts'
import type { State } from '../../core/state/state.ts'
import { CANCEL_ACCOUNT_ORDERS_COMMAND, CANCEL_ALL_MAX, CommandType } from '../../core/layout/command.ts'
import { IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { masterOf, readProfile } from '../../core/view/families.ts'
import { HOLDINGS, largestHolders, readPools, type Holder, type Holding } from '../../core/view/pools.ts'
import type { Admin } from './admin.ts'
import * as fields from '../operations/fields.ts'
import { Nullable, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { said, UsageError } from './command.ts'
import { hasAccount } from './policy.ts'
import { note, operatorRoute, SENDS, type OperatorContext } from './route.ts'
import { count, table } from './text.ts'

/** Holders in one answer. */
const TOP_MAX = 100
/** Commands of one request: twelve for each account of the largest family, each of which may have 10,000 orders. */
const COMMANDS_MAX = 1212
/** Requests of one cancel on the command line, at most. */
const ROUNDS = 1000

const USER = userId(1040, 7)
const OTHER = userId(977, 3)
const user = field(Uuid, 'The user.')
const held = (whose: string) =>
  field(Type.Array(Type.Object({ userId: user, held: field(Type.Integer(), 'How many of the pool.') })), whose)

/** One walk over all accounts at a time. */
let walking = false

export const ListPools = operatorRoute({
  method: 'GET', path: '/pools', token: false,
  summary: 'How full every bounded pool of the state is',
  description: 'What happens when one is full is in gateway/README.md, What is bounded.',
  output: Type.Object({
    pools: field(Type.Array(Type.Object({
      pool: field(Type.String(), 'Its name.'), used: field(Type.Integer(), 'How many are used.'),
      capacity: field(Type.Integer(), 'How many there are.'),
      share: field(Nullable(Type.Integer()), 'What one user with all sub-accounts may hold now; null: it is not shared out.'),
    })), 'The pools.'),
  }),
  refusals: [],
  example: { input: {}, output: { pools: [{ pool: 'orders', used: 734_003, capacity: 1_048_576, share: 1061 }] } },
  commands: [{
    name: 'pools',
    purpose: 'how full every bounded pool of the state is',
    explains: 'SHARE is what one user with all sub-accounts may hold of it now; it shrinks as the pool fills. What happens when one\n'
      + 'is full is in gateway/README.md, What is bounded. Alerts stand at 70 and 90 %.',
    example: ['pools', 'POOL       USED   CAPACITY  FULL %  SHARE\norders  734,003  1,048,576  70.0    1061'],
    show: ({ pools }) => table(['POOL', 'USED', 'CAPACITY', 'FULL %', 'SHARE'], pools.map(({ pool, used, capacity, share }) => [
      pool, used, capacity, ((used / capacity) * 100).toFixed(1), share === null ? '-' : String(share),
    ])),
  }],
  run: ({ state }) => ({ pools: readPools(state, Date.now()) }),
})

const showHeld = (head: string, rows: readonly { readonly userId: string; readonly held: number }[]): string =>
  table([head, 'HOLDS'], rows.map(({ userId, held }) => [userId, held]))

export const ListHolders = operatorRoute({
  method: 'GET', path: '/holders', token: true,
  summary: 'Who holds most of a pool',
  description: 'The largest accounts, and the largest families: a master with its sub-accounts, by its master. Of positions, '
    + 'risk buckets and leaders families only, of margin accounts accounts only.',
  query: Type.Object({
    pool: field(Type.Enum(Object.keys(HOLDINGS)), 'The pool.'),
    top: Type.Optional(field(Type.Integer({ minimum: 1, maximum: TOP_MAX }), 'How many; 20 if it is not given.')),
  }),
  output: Type.Object({
    pool: field(Type.String(), 'The pool.'), accounts: held('The largest accounts.'), families: held('The largest families.'),
  }),
  refusals: ['OVERLOADED'],
  example: {
    input: { pool: 'orders', top: 1 },
    output: { pool: 'orders', accounts: [{ userId: USER, held: 9984 }], families: [{ userId: OTHER, held: 20_117 }] },
  },
  commands: [{
    name: 'holders', parameters: [{ field: 'pool', typed: 'POOL' }], options: [{ field: 'top', typed: 'NUMBER', option: 'top' }],
    purpose: 'who holds most of a pool',
    explains: `POOL is one of ${Object.keys(HOLDINGS).join(', ')}.\n`
      + 'The largest accounts, and the largest families: a master with its sub-accounts, by its master. Of positions,\n'
      + 'risk buckets and leaders families only, of margin accounts accounts only. NUMBER is 1 to 100, 20 if it is not given.',
    example: ['holders orders --top 1', `ACCOUNT                               HOLDS\n${USER}  9,984\n\n`
      + `FAMILY                                 HOLDS\n${OTHER}  20,117`],
    show: ({ accounts, families }) => `${showHeld('ACCOUNT', accounts)}\n\n${showHeld('FAMILY', families)}`,
  }],
  run: async ({ state }, { pool, top = 20 }) => {
    if (walking) return new Refused('OVERLOADED')
    walking = true
    try {
      const { accounts, families } = await largestHolders(state, pool as Holding, top)
      return { pool, accounts: accounts.map(named), families: families.map(named) }
    } finally {
      walking = false
    }
  },
})

const named = ({ account, createdSequence: created, held }: Holder) => ({ userId: userId(created, account), held })

export const CancelOrders = operatorRoute({
  method: 'POST', path: '/orders/cancel', token: true,
  summary: 'Cancel resting orders of a user',
  description: 'All of them, or those of one pair; with `family` those of the master and all its sub-accounts. It works in maintenance '
    + 'and on halted pairs too.',
  body: Type.Object({
    userId: user,
    pair: Type.Optional(field(Type.String(), 'Those of this trading pair only, by id or symbol.')),
    family: Type.Optional(field(Type.Boolean(), 'Those of the whole family.')),
  }),
  output: Type.Object({
    userId: user, pair: field(Nullable(Type.String()), 'Symbol of the pair; null: all.'),
    family: field(Type.Boolean(), 'Whether it was about the whole family.'), accounts: field(Type.Integer(), 'Accounts it was about.'),
    cancelled: field(Type.Integer(), 'Orders that ended.'), left: field(Type.Integer(), '1 when more may rest: ask again.'),
    sequence: fields.sequence,
  }),
  refusals: [...SENDS, 'NOT_FOUND', 'ENGINE_UNAVAILABLE'],
  example: {
    input: { userId: USER, pair: 'BTC/USDC' },
    output: { userId: USER, pair: 'BTC/USDC', family: false, accounts: 1, cancelled: 9984, left: 0, sequence: 1042 },
  },
  commands: [{
    name: 'orders cancel',
    options: [
      { field: 'userId', typed: 'USER_ID', option: 'user' }, { field: 'pair', typed: 'PAIR', option: 'pair' },
      { field: 'family', typed: 'true|false', option: 'family' },
    ],
    purpose: 'cancel resting orders of a user',
    explains: 'All of them, or those of PAIR (a symbol or an id); with --family true those of the master and all its sub-accounts. It\n'
      + 'works in maintenance and on halted pairs too. The user may place orders again: end the sessions to prevent that. Every\n'
      + 'cancel is in the journal, and the history says that it was the operator\'s.',
    example: [`orders cancel --user ${USER} --pair BTC/USDC`, '9,984 orders of 1 account are cancelled (sequence 1042)'],
    show: (done) => showCancelled(done, done.cancelled),
    // Until nothing is left; each request ends as many orders as its commands do.
    run: async (ask, input) => {
      let total = 0
      for (let round = 0; round < ROUNDS; round++) {
        const done = await ask(input)
        total += done.cancelled
        if (done.left === 0) return said({ ...done, cancelled: total }, showCancelled(done, total))
      }
      throw new UsageError('orders come faster than they are cancelled: end the sessions first')
    },
  }],
  run: async (context, { userId: text, pair: wanted, family = false }) => {
    const { state } = context
    const id = parseId(IdKind.USER, text)
    if (id === null) return refusedField('userId', 'userId must be the id of a user')
    const pair = state.genesis.pairs.find(({ id, symbol }) => symbol === wanted || id.toLowerCase() === wanted?.toLowerCase())
    if (wanted !== undefined && pair === undefined) return new Refused('NOT_FOUND', undefined, { field: 'pair' })
    if (!hasAccount(state, id.slot, id.sequence)) return new Refused('NOT_FOUND', undefined, { field: 'userId' })
    const accounts = accountsOf(context, id.slot, family)
    if (accounts === null) return new Refused('ENGINE_UNAVAILABLE')
    // The account that was named is meant as it was named: its row may be another's by now.
    const each = accounts.map((account) =>
      ({ account, createdSequence: account === id.slot ? id.sequence : createdSequence(state, account) }))
    const cancelled = await cancelOrders(context.admin, each, pair?.index ?? -1)
    if (cancelled instanceof Refused) return cancelled
    const done = { userId: text, pair: pair?.symbol ?? null, family, accounts: accounts.length, ...cancelled }
    note(context, 'orders cancelled by the operator', done)
    return done
  },
})

const showCancelled = ({ accounts, sequence }: { readonly accounts: number; readonly sequence: number }, total: number): string =>
  `${count(total)} orders of ${accounts === 1 ? '1 account' : `${accounts} accounts`} are cancelled (sequence ${sequence})`

const createdSequence = (state: State, account: number): number =>
  getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)

/** The accounts a cancel is about; `null` while the family cannot be read. */
function accountsOf({ state, gate }: OperatorContext, account: number, family: boolean): readonly number[] | null {
  if (!family) return [account]
  const master = masterOf(state, account)
  const profile = readProfile(state, gate, master < 0 ? account : master)
  return profile === null ? null : [profile.account, ...profile.subAccounts]
}

/** Orders that ended, 1 when more may rest, and the last command that ended some. */
interface Cancelled {
  cancelled: number
  left: number
  sequence: number
}

/**
 * Cancels the orders of these accounts; a refusal of the first command is the answer, what was done before a later one
 * counts.
 */
async function cancelOrders(
  admin: Admin, accounts: readonly { account: number; createdSequence: number }[], pair: number,
): Promise<Cancelled | Refused> {
  const done: Cancelled = { cancelled: 0, left: 0, sequence: 0 }
  let commands = 0
  for (const each of accounts) {
    let from = { fromSlot: 0, fromSequence: 0 }
    for (let goesOn = true; goesOn; ) {
      if (commands++ >= COMMANDS_MAX) return { ...done, left: 1 }
      const values = { ...each, pair, limit: CANCEL_ALL_MAX, ...from }
      const result = await admin.send(CommandType.CANCEL_ACCOUNT_ORDERS, CANCEL_ACCOUNT_ORDERS_COMMAND, values)
      if (result === 'full' || result === 'late') {
        return new Refused(result === 'full' ? 'OVERLOADED' : 'SERVICE_UNAVAILABLE', undefined, { ...done })
      }
      if (result['code'] !== 0) {
        return new Refused(refusalByNumber(result['code'] as number).code as RefusalCode, undefined, { ...done })
      }
      done.cancelled += Number(result['ended'])
      done.sequence = Number(result['sequence'])
      goesOn = result['more'] !== 0
      from = { fromSlot: Number(result['nextSlot']), fromSequence: Number(result['nextSequence']) }
    }
  }
  return done
}
