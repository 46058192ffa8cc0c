/**
 * Kinds of rows: what `export --kind` names, and what CSV and Parquet have one file of each.
 *
 * A kind of events has a row for each of them. A kind of commands has a row for each command of its types, what was asked and what was
 * answered in one. Where both have a column, a command that was done shows the answer's value, which is what came to be (a replacement
 * that gave no price has the original's there), and a refused one what it asked for. `refusal` is the code of the register, empty when it
 * was done.
 */
import { CommandType } from '../layout/command.ts'
import { EventType } from '../layout/event.ts'
import { answerColumns } from './answer_columns.ts'
import { COMMAND_COLUMNS } from './command_columns.ts'
import { EVENT_COLUMNS } from './event_columns.ts'
import type { CellType, Column } from './meanings.ts'

/** Every type of command stands in one of these, the genesis in none. */
export const COMMAND_KINDS = {
  orders: [CommandType.PLACE_ORDER, CommandType.REPLACE_ORDER, CommandType.ENTER_ORDER],
  cancels: [
    CommandType.CANCEL_ORDER, CommandType.CANCEL_ALL, CommandType.CANCEL_ACCOUNT_ORDERS, CommandType.CONTINUE_CANCEL,
    CommandType.EXPIRE_ORDER,
  ],
  sessions: [
    CommandType.OPEN_SESSION, CommandType.OPEN_DELEGATED_SESSION, CommandType.REFRESH_SESSION, CommandType.REVOKE_SESSION,
  ],
  faucet_requests: [CommandType.MINT],
  transfers: [CommandType.TRANSFER],
  sub_accounts: [CommandType.CREATE_SUB_ACCOUNT],
  spend_limits: [CommandType.SET_SPEND_LIMIT],
  agents: [CommandType.UPSERT_AGENT, CommandType.REVOKE_AGENT],
  fee_tiers: [CommandType.SET_FEE_TIER],
  listings: [CommandType.LIST_ASSET, CommandType.LIST_PAIR, CommandType.SET_PAIR_TERMS, CommandType.SET_PAIR_STATUS],
  applications: [CommandType.SET_APPLICATION, CommandType.SET_ORIGIN, CommandType.SET_SERVER_KEY],
  settings: [
    CommandType.SET_MAINTENANCE, CommandType.SET_RULES, CommandType.RAISE_LIMIT, CommandType.LIMITS_IN_FORCE, CommandType.ACCEPT_LOSS,
    CommandType.ACCEPT_CLOCK,
  ],
  collateral_moves: [
    CommandType.MOVE_COLLATERAL, CommandType.OPEN_MARGIN_ACCOUNT, CommandType.CLOSE_MARGIN_ACCOUNT, CommandType.OPEN_RISK_BUCKET,
  ],
  perpetual_settings: [
    CommandType.SET_INDEX_PRICE, CommandType.SET_PERP, CommandType.FUND_INSURANCE, CommandType.FUNDING_STEP, CommandType.LIQUIDATION_STEP,
    CommandType.SETTLEMENT_STEP,
  ],
  conditional_orders: [
    CommandType.ATTACH_CONDITIONALS, CommandType.CANCEL_CONDITIONAL, CommandType.EXPIRE_CONDITIONAL, CommandType.TRIGGER_STEP,
  ],
  twap_orders: [CommandType.CREATE_TWAP, CommandType.CANCEL_TWAP, CommandType.TWAP_STEP],
  builder_codes: [CommandType.SET_BUILDER_PROGRAM, CommandType.ENROLL_APPLICATION, CommandType.SET_BUILDER_FEE],
  launches: [CommandType.SET_LAUNCH, CommandType.CLAIM_LEASE],
  copy_trading: [
    CommandType.REGISTER_LEADER, CommandType.RELEASE_LEADER, CommandType.CREATE_FOLLOW, CommandType.UPDATE_FOLLOW, CommandType.STOP_FOLLOW,
    CommandType.COPY_STEP, CommandType.SET_COPY_PROGRAM,
  ],
  referrals: [CommandType.SET_REFERRAL_SHARES, CommandType.TRANSFER_REWARDS],
  withdrawals: [
    CommandType.INITIATE_WITHDRAWAL, CommandType.ADVANCE_WITHDRAWAL, CommandType.REVIEW_WITHDRAWAL, CommandType.SET_WITHDRAWAL_TERMS,
    CommandType.STOP_WITHDRAWALS,
  ],
  chain_deposits: [
    CommandType.CREDIT_DEPOSIT, CommandType.ADVANCE_CHAIN, CommandType.ASSIGN_SUSPENSE, CommandType.FAUCET_MINTED,
  ],
  settlement_batches: [CommandType.OPEN_SETTLEMENT, CommandType.CONFIRM_SETTLEMENT],
} as const satisfies Readonly<Record<string, readonly CommandType[]>>

export const EVENT_KINDS = {
  fills: EventType.FILL,
  ended_orders: EventType.ORDER_ENDED,
  self_trades: EventType.SELF_TRADE,
  client_order_ids: EventType.LABEL,
  credits: EventType.CREDIT,
  margin_orders: EventType.MARGIN_ORDER,
  positions: EventType.POSITION,
  collateral: EventType.COLLATERAL,
  marks: EventType.MARK,
  funding_rates: EventType.FUNDING_RATE,
  funding_payments: EventType.FUNDING_PAYMENT,
  liquidations: EventType.LIQUIDATION,
  resized_orders: EventType.ORDER_RESIZED,
  conditional_changes: EventType.CONDITIONAL,
  twap_changes: EventType.TWAP,
  twap_terms: EventType.TWAP_OPENED,
  twap_slices: EventType.CHILD_ORDER,
  application_fees: EventType.APPLICATION_FEE,
  follow_changes: EventType.FOLLOW,
  leader_changes: EventType.LEADER,
  referral_rewards: EventType.REFERRAL_REWARD,
  withdrawal_changes: EventType.WITHDRAWAL,
  deposits: EventType.DEPOSIT,
  settlements: EventType.SETTLEMENT,
} as const

/** Fails to compile when a type of command has no kind. */
type Kept = (typeof COMMAND_KINDS)[keyof typeof COMMAND_KINDS][number]
const everyTypeHasAKind: Exclude<CommandType, Kept | typeof CommandType.GENESIS> extends never ? true : never = true

export interface Field {
  readonly name: string
  readonly type: CellType
}

/** Where the cells of one row come from: per field the columns that may have it, the first that has a value counts. */
export interface Plan {
  readonly asked: readonly (Column | undefined)[]
  readonly answered: readonly (Column | undefined)[]
  /** Columns that name users and pairs. */
  readonly askedOf: readonly Column[]
  readonly answeredOf: readonly Column[]
}

export interface Kind {
  readonly name: string
  /** Number in {@link KINDS}. */
  readonly index: number
  readonly fields: readonly Field[]
  /** What stands in its rows before the columns of records: sequence, time, of commands their type and refusal too. */
  readonly lead: number
}

const SEQUENCE: readonly Field[] = [{ name: 'sequence', type: 'integer' }, { name: 'time', type: 'time' }]
const COMMAND: readonly Field[] = [...SEQUENCE, { name: 'command', type: 'text' }, { name: 'refusal', type: 'text' }]

/** All fields of these columns, each name once. */
function united(kind: string, lead: readonly Field[], columns: readonly Column[]): readonly Field[] {
  const fields = [...lead]
  for (const { name, type } of columns) {
    const known = fields.find((field) => field.name === name)
    if (known === undefined) fields.push({ name, type })
    else if (known.type !== type || lead.includes(known)) throw new Error(`${kind}: two meanings of the column ${name}`)
  }
  return fields
}

const ofType = (type: number): readonly Column[] => [
  ...(COMMAND_COLUMNS as Readonly<Record<number, readonly Column[]>>)[type]!, ...answerColumns(type, 0), ...answerColumns(type, -1),
]

const commandKinds = Object.entries(COMMAND_KINDS).map(([name, types], index): Kind =>
  ({ name, index, fields: united(name, COMMAND, (types as readonly number[]).flatMap(ofType)), lead: COMMAND.length }))
const eventKinds = Object.entries(EVENT_KINDS).map(([name, type], index): Kind =>
  ({ name, index: commandKinds.length + index, fields: united(name, SEQUENCE, EVENT_COLUMNS[type]!), lead: SEQUENCE.length }))

/** Commands first, in the order of the tables above. */
export const KINDS: readonly Kind[] = everyTypeHasAKind && [...commandKinds, ...eventKinds]

const named = (columns: readonly Column[]): readonly Column[] =>
  columns.filter(({ name, account }) => account !== undefined || name === 'pair')

function planOf({ fields, lead }: Kind, asked: readonly Column[], answered: readonly Column[]): Plan {
  const place = (columns: readonly Column[]): readonly (Column | undefined)[] =>
    fields.slice(lead).map((field) => columns.find(({ name }) => name === field.name))
  return { asked: place(asked), answered: place(answered), askedOf: named(asked), answeredOf: named(answered) }
}

interface CommandPlan {
  readonly kind: Kind
  readonly done: Plan
  readonly refused: Plan
}

const COMMAND_PLANS: ReadonlyMap<number, CommandPlan> = new Map(Object.values(COMMAND_KINDS).flatMap((types, index) =>
  (types as readonly number[]).map((type): [number, CommandPlan] => {
    const asked = (COMMAND_COLUMNS as Readonly<Record<number, readonly Column[]>>)[type]!
    const kind = commandKinds[index]!
    return [type, { kind, done: planOf(kind, asked, answerColumns(type, 0)), refused: planOf(kind, asked, answerColumns(type, -1)) }]
  })))
const EVENT_PLANS: ReadonlyMap<number, { kind: Kind; plan: Plan }> = new Map(Object.values(EVENT_KINDS).map((type, index) => {
  const kind = eventKinds[index]!
  return [type, { kind, plan: planOf(kind, EVENT_COLUMNS[type]!, []) }]
}))

/** Of a command of this type; none: the genesis. */
export const commandPlan = (type: number): CommandPlan | undefined => COMMAND_PLANS.get(type)
/** Of an event; none: a RESULT, which is part of its command's row. */
export const eventPlan = (event: number): { kind: Kind; plan: Plan } | undefined => EVENT_PLANS.get(event)
