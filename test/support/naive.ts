/**
 * The naive exchange: slow, obvious, written from the specification with plain arrays and BigInt, and independent of the engine. The
 * property tests hold the engine against it, event by event, byte by byte.
 *
 * It differs in structure on purpose: balances are totals only and what is locked is computed from the open orders whenever it
 * is asked for; the book is one list per pair that is sorted for every incoming order; slots are a plain stack; receipts and
 * faucet requests are lists that are filtered; rates are looked up in the genesis for every order and every fill. This file holds
 * accounts, faucet and receipts; sessions are in naive_sessions.ts, trading in naive_terms.ts and naive_orders.ts, mass cancels in
 * naive_sweeps.ts, families in naive_families.ts, delegated agents in naive_agents.ts, what the operator decides in naive_policy.ts,
 * margin trading in naive_margin.ts, orders that wait in naive_conditional.ts and naive_twap.ts, builder codes in naive_builder.ts,
 * launches in naive_launches.ts, referrals in naive_referrals.ts, money in and out in naive_vault.ts and naive_deposits.ts.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import { CommandType, Flag, typeOfKind, Option } from '../../core/layout/command.ts'
import { CREDIT, EventType, FILL, RESULT } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { lastsUntil, owner, revokeAgent, upsertAgent, type Agent } from './naive_agents.ts'
import { applicationsOf, setApplications, type NaiveApplication } from './naive_applications.ts'
import { Builder, builderCommand } from './naive_builder.ts'
import type { NaiveEvent } from './naive_events.ts'
import { fits } from './naive_deposits.ts'
import { family, familyOf, payerOf, share, type SpendLimit, type Spending } from './naive_families.ts'
import { Waiting } from './naive_conditional.ts'
import { launchCommand, type Launch } from './naive_launches.ts'
import { referralCommand } from './naive_referrals.ts'
import { Copies } from './naive_copies.ts'
import { copyCommand } from './naive_copy_step.ts'
import { list, Listed, ownGenesis } from './naive_listing.ts'
import { Margins } from './naive_margin.ts'
import { marginCommand } from './naive_margin_commands.ts'
import { cancel, expire, place, replace } from './naive_orders.ts'
import { cancelAll, type Connections, continueCancel, type Sweep } from './naive_sweeps.ts'
import { enterOwn } from './naive_own.ts'
import { policy } from './naive_policy.ts'
import { endsOrExtends, GONE, isLive, openDelegatedSession, openSession, type Session } from './naive_sessions.ts'
import { holdOf, type Order } from './naive_terms.ts'
import { lockedByVault, Vault, vaultCommand } from './naive_vault.ts'
import { waitingCommand } from './naive_waiting_commands.ts'

/** Numbers of the refusal register, written out: they are a promise. */
export const CODE = {
  SESSION_INVALID: 113, SESSION_KEY_IN_USE: 116, OPERATOR_ONLY: 117, AGENT_NOT_ALLOWED: 118, MASTER_ONLY: 119,
  APPLICATION_INACTIVE: 120, CONSENT_REQUIRED: 121, VALIDATION_ERROR: 200,
  INVALID_TICK: 210, INVALID_LOT: 211, INVALID_EXPIRATION: 213, OPERATIONS_BLOCKED: 300,
  IDEMPOTENCY_KEY_CONFLICT: 302, ORDER_SUBMISSION_CAPACITY_EXCEEDED: 303, CLIENT_ORDER_ID_CONFLICT: 305, PAIR_NOT_ACTIVE: 306,
  TOO_MANY_OPEN_ORDERS: 307, FAUCET_LIMIT: 308, FAUCET_ASSET: 309, ADDRESS_IN_USE: 310, TOO_MANY_SUB_ACCOUNTS: 311, LIMIT_EXISTS: 312,
  SYMBOL_IN_USE: 330, TOO_MANY_ASSETS: 331, TOO_MANY_PAIRS: 332, LISTING_TERMS: 333, LIMIT_NOT_RAISED: 334,
  LIMIT_TOO_LARGE: 335,
  NOT_SUB_ACCOUNT: 313, TOO_MANY_AGENTS: 314, CLIENT_ID_IN_USE: 315, TOO_MANY_APPLICATIONS: 316,
  INSUFFICIENT_BALANCE: 400, BELOW_MIN_NOTIONAL: 401,
  BELOW_MIN_ORDER_SIZE: 402, ABOVE_MAX_ORDER_SIZE: 403, SUB_ACCOUNT_LIMIT_EXCEEDED: 404,
  POST_ONLY_WOULD_CROSS: 500, SELF_TRADE_NOT_ALLOWED: 501,
  INSUFFICIENT_MARGIN: 410, INSUFFICIENT_COLLATERAL: 411, LEVERAGE_TOO_HIGH: 412, LEVERAGE_TOO_LOW: 413, REDUCE_ONLY_REJECTED: 414,
  POSITION_LIMIT_EXCEEDED: 415, OPEN_INTEREST_LIMIT: 416, PRICE_STALE: 417, PAIR_REDUCE_ONLY: 418, WRONG_TRADING_MODE: 419,
  MASTER_BALANCE_NOT_ALLOWED: 420, RISK_BUCKET_MISMATCH: 421, RISK_BUCKET_IN_LIQUIDATION: 422, MARGIN_ACCOUNT_NOT_FLAT: 423,
  TOO_MANY_MARGIN_ACCOUNTS: 424, TOO_MANY_RISK_BUCKETS: 425, TOO_MANY_POSITIONS: 426, TOO_MANY_REDUCE_ONLY: 427,
  POSITION_NOT_FOUND: 428, PRICE_OUT_OF_BAND: 429, STRATEGY_KEY_UNKNOWN: 430, WRONG_PERP_MODE: 431,
  TRAILING_STOP_EXISTS: 440, INVALID_TRIGGER_PRICE: 441, TOO_MANY_CONDITIONAL_ORDERS: 442, TOO_MANY_TWAP_ORDERS: 443,
  INVALID_SCHEDULE: 444, BEYOND_LIMIT_PRICE: 445,
  BUILDER_FEE_ABOVE_CAP: 450, NOT_ENROLLED: 451, NOT_PAYOUT_WALLET: 452, BUILDER_FEES_OFF: 453, NO_FEE_CHANGES_LEFT: 454,
  PERMISSION_DENIED: 460, LEASE_CONFLICT: 461, LEASE_LOST: 462, LAUNCH_EXISTS: 463, TOO_MANY_LAUNCHES: 464, LAUNCH_ENDED: 465,
  HANDLE_TAKEN: 470, HANDLE_CHANGE_TOO_SOON: 471, ALREADY_LEADER: 472, TOO_MANY_LEADERS: 473, ALREADY_FOLLOWING: 474,
  CANNOT_FOLLOW: 475, CANNOT_LEAD: 476, TOO_MANY_FOLLOWS: 477, LEADER_FULL: 478, ALLOCATION_TOO_SMALL: 479, FOLLOW_STOPPING: 480,
  COPY_MARGIN_ACCOUNT: 481, LEADER_EQUITY: 482, COPY_PARTLY_FILLED: 483, COPY_TRADING_OFF: 484, COPY_PRICE: 485,
  WITHDRAWALS_STOPPED: 490, WITHDRAWAL_TOO_SMALL: 491, WITHDRAWAL_LIMIT: 492, TOO_MANY_WITHDRAWALS: 493, WITHDRAWAL_STATUS: 494,
  CHAIN_ORDER: 495, SETTLEMENT_ORDER: 496,
  ORDER_NOT_FOUND: 502, NOT_FOUND: 600, OVERLOADED: 900, TRIGGERS_BEHIND: 907,
} as const

export const DAY_MS = 24 * 60 * 60 * 1000

export interface Account {
  application: number
  address: string
  createdSequence: number
  /** Everything owned, locked or not, by asset. */
  total: bigint[]
  /** Changes of the balance so far, by asset. */
  version: bigint[]
  /** Times of faucet requests. */
  mints: number[]
  /** Fee tier. */
  tier: number
  /** Its master; -1: it is one. */
  master: number
  /** Its wallet agreed to the master. */
  consented: boolean
  /** When its wallet signed in or refreshed last: time, sequence. */
  seen: [time: number, sequence: number]
  /** Its row may become another wallet's while it has nothing: made when that was so. */
  lent: boolean
  /** The operator set its tier, or an order of it was accepted. */
  known: boolean
  /** Who brought it, and what it earned as a referrer, by asset. */
  referrer: Account | null
  rewards: bigint[]
}

export interface Receipt {
  account: number
  key: string
  payload: string
  time: number
  result: Decoded
  /** It expired and is nobody's, and waits for its turn to be dropped. */
  forgotten: boolean
}

/** Expired receipts that one command drops at most. */
const DROPPED_MOST = 1024

/** Rules that the canary test breaks on purpose. */
export interface Rules {
  /** Fee of a sum of quote atoms × ppm: its ceiling in atoms. */
  fee(sum: bigint): bigint
  /** Sorts orders of one price: the earlier place first. */
  earlier(a: Order, b: Order): number
}

export const RULES: Rules = {
  fee: (sum) => (sum > 0n ? (sum + 999_999n) / 1_000_000n : -(-sum / 1_000_000n)),
  earlier: (a, b) => a.place - b.place,
}

export class NaiveExchange {
  readonly genesis: Genesis
  readonly rules: Rules
  now = 0
  sequence = 0
  maintenance = false
  /** Rules of the engine in force, by number. */
  inForce: number
  /** Names of pair statuses by pair. */
  statuses: ('HALTED' | 'ACTIVE' | 'CANCEL_ONLY')[]
  readonly listed = new Listed()
  accounts: Account[] = []
  sessions: Session[] = []
  nextReclaim = 0
  /** By row. */
  agents: Agent[] = []
  applications: NaiveApplication[]
  receipts: Receipt[] = []
  /** When the orders of an account are cancelled unless it says otherwise before, Unix ms, by account. */
  deadlines = new Map<number, number>()
  /** Of accounts that ever had a connection that cancels at its end. */
  connections = new Map<number, Connections>()
  /** Mass cancels under way, by when whoever asked was heard last. */
  sweeps: Sweep[] = []
  spendLimits: SpendLimit[] = []
  spendings: Spending[] = []
  /** Resting orders by pair, in no order that matters. */
  books: Order[][]
  freeSlots: number[] = []
  slotsUsed = 0
  /** Grows with every order that goes to the back of a queue. */
  places = 0
  fees: bigint[]
  issued: bigint[]
  events: NaiveEvent[] = []
  readonly margins: Margins
  readonly waiting = new Waiting()
  readonly builder = new Builder()
  launches: Launch[] = []
  readonly copies = new Copies()
  readonly vault = new Vault()
  /** Of the three levels, ppm. */
  referralShares: readonly number[]

  constructor(genesis: Genesis, rules: Rules = RULES) {
    this.genesis = ownGenesis(genesis)
    this.referralShares = genesis.referralSharesPpm
    this.rules = rules
    this.margins = new Margins(this.genesis)
    this.applications = applicationsOf(genesis)
    this.books = genesis.pairs.map(() => [])
    this.statuses = genesis.pairs.map(() => 'ACTIVE')
    this.inForce = genesis.rules
    this.fees = genesis.assets.map(() => 0n)
    this.issued = genesis.assets.map(() => 0n)
  }

  /** Applies one command at `now` and returns its events. */
  apply(command: Decoded, now: number): NaiveEvent[] {
    this.now = now
    this.sequence += 1
    this.events = []
    this.take(command)
    this.vault.fills += this.events.filter(({ layout }) => layout === FILL).length
    return this.events
  }

  private take(command: Decoded): void {
    const type = typeOfKind(Number(command['kind']))
    if (type === CommandType.PLACE_ORDER) place(this, command)
    else if (type === CommandType.ENTER_ORDER) enterOwn(this, command)
    else if (type === CommandType.CANCEL_ORDER) cancel(this, command)
    else if (type === CommandType.REPLACE_ORDER) replace(this, command)
    else if (type === CommandType.CANCEL_ALL) cancelAll(this, command)
    else if (type === CommandType.EXPIRE_ORDER) expire(this, command)
    else if (type === CommandType.CONTINUE_CANCEL) continueCancel(this, command)
    else if (type === CommandType.MINT) mint(this, command)
    else if (type === CommandType.OPEN_SESSION) openSession(this, command)
    else if (type === CommandType.REFRESH_SESSION) endsOrExtends(this, command, lastsUntil(this, this.signingAgent(command)))
    else if (type === CommandType.REVOKE_SESSION) endsOrExtends(this, command, null)
    else if (type === CommandType.UPSERT_AGENT) upsertAgent(this, command)
    else if (type === CommandType.REVOKE_AGENT) revokeAgent(this, command)
    else if (type === CommandType.OPEN_DELEGATED_SESSION) openDelegatedSession(this, command)
    else if (type === CommandType.ACCEPT_LOSS) this.acceptLoss(command)
    else if (marginCommand(this, command, type) || waitingCommand(this, command, type)) return
    else if (builderCommand(this, command) || launchCommand(this, command) || copyCommand(this, command, type)) return
    else if (referralCommand(this, command) || vaultCommand(this, command)) return
    else if (!family(this, command) && !setApplications(this, command) && !list(this, command)) policy(this, command)
  }

  /** ACCEPT_LOSS: it and what follows have sequences that nothing lost can have had. */
  private acceptLoss(command: Decoded): void {
    this.sequence = Number(command['resume'])
    this.result(command, { account: -1 })
  }

  /** Adds the RESULT of `command`. */
  result(command: Decoded, values: Decoded): Decoded {
    const kind = Number(command['kind'])
    const record: Decoded = {
      kind: (EventType.RESULT | (typeOfKind(kind) << 8) | (kind & 0xffff0000)) >>> 0,
      correlation: command['correlation']!, sequence: this.sequence, time: this.now, ...values,
    }
    this.events.push({ layout: RESULT, values: record })
    return record
  }

  /** `lacking`: number of the grant that an agent lacks; `told`: what else is said of an order. */
  refuse(command: Decoded, code: number, account: number, lacking = 0, told: Decoded = {}): void {
    this.result(command, { code, account, detail: lacking, ...told })
  }

  /** The account that signed the command, or -1. */
  signer(command: Decoded): number {
    const session = this.sessions[Number(command['session'])]
    if (session === undefined || (session.generation >>> 0 || 1) !== command['sessionGeneration']) return -1
    return isLive(this, session) ? session.account : -1
  }

  /** The agent that signed the command; null: the account's own wallet, or nobody. */
  signingAgent(command: Decoded): Agent | null {
    return this.signer(command) < 0 ? null : (this.sessions[Number(command['session'])]!.agent as Agent | null)
  }

  openOrders(account: number): Order[] {
    return this.books.flat().filter((order) => order.account === account)
  }

  locked(account: number, asset: number): bigint {
    let sum = lockedByVault(this, account, asset)
    for (const order of this.books.flat()) {
      if (order.margin !== null || payerOf(this, order.account, order.flags) !== account) continue
      const pair = this.genesis.pairs[order.pair]!
      if ((order.sell ? pair.base : pair.quote) === asset) sum += holdOf(this, order)
    }
    return sum
  }

  available(account: number, asset: number): bigint {
    return this.accounts[account]!.total[asset]! - this.locked(account, asset)
  }

  /** Changes what an account owns of an asset. */
  pay(account: number, asset: number, atoms: bigint): void {
    const { total } = this.accounts[account]!
    total[asset] = total[asset]! + atoms
    this.touch(account, asset)
  }

  touch(account: number, asset: number): void {
    const { version } = this.accounts[account]!
    version[asset] = version[asset]! + 1n
  }

  /** Makes an account and returns its row: one that was never used, or the one that goes. */
  newAccount(application: number, address: string, master: number): number {
    const row = this.accounts.length < this.genesis.limits.accounts ? this.accounts.length : this.goes()
    this.deadlines.delete(row)
    this.connections.delete(row)
    const zeros = (): bigint[] => this.genesis.assets.map(() => 0n)
    this.accounts[row] = {
      application, address, createdSequence: this.sequence, total: zeros(), version: zeros(), mints: [], tier: 0, master, consented: false,
      seen: [this.now, this.sequence], lent: this.inForce >= 1, known: false, referrer: null,
      rewards: zeros(),
    }
    return row
  }

  /** Room for one more account. When it has to be made, the account that goes loses up to 64 sessions, the newest first. */
  hasRoom(): boolean {
    if (this.accounts.length < this.genesis.limits.accounts) return true
    const row = this.goes()
    const theirs = this.sessions.filter((session) => session.account === row && session.counted).sort((a, b) => b.generation - a.generation)
    for (const session of row < 0 ? [] : theirs.slice(0, 64)) Object.assign(session, { account: GONE, counted: false })
    return row >= 0 && theirs.length <= 64
  }

  /** The account that was seen longest ago among those that never had anything, when that was long enough ago; -1: none. */
  private goes(): number {
    const nothing = this.accounts.filter((account, row) => account.lent && !account.known && account.master < 0 &&
      account.mints.length === 0 && this.accounts.every(({ master }) => master !== row) && this.agents.every(({ owner }) => owner !== row))
    const first = nothing.sort((a, b) => a.seen[0] - b.seen[0] || a.seen[1] - b.seen[1])[0]
    if (first === undefined || first.seen[0] + this.genesis.limits.sessionLifetimeMs + DAY_MS > this.now) return -1
    return this.accounts.indexOf(first)
  }

  /** Looks a keyed command up: a refusal number, the receipt to repeat, or 0 to go on. */
  admit(command: Decoded, account: number): number | Receipt {
    if ((Number(command['options']) & Option.KEYED) === 0) return 0
    this.dropExpired(DROPPED_MOST)
    const receipt = this.receipts.findLast((each) => each.account === account && each.key === command['key'])
    if (receipt !== undefined && !this.hasExpired(receipt)) {
      const former = String(command['former'] ?? '')
      const same = receipt.payload === command['payload'] || (/[^0]/.test(former) && receipt.payload === former)
      return same ? receipt : CODE.IDEMPOTENCY_KEY_CONFLICT
    }
    if (receipt !== undefined && this.inForce >= 1) receipt.forgotten = true
    else if (receipt !== undefined) this.dropExpired(Infinity)
    return this.mayKeep(account) ? 0 : CODE.ORDER_SUBMISSION_CAPACITY_EXCEEDED
  }

  private hasExpired({ time }: Receipt): boolean {
    return time + this.genesis.limits.receiptLifetimeMs <= this.now
  }

  /** Drops expired receipts, the oldest first. */
  private dropExpired(most: number): void {
    const lasting = this.receipts.findIndex((receipt) => !this.hasExpired(receipt))
    this.receipts.splice(0, Math.min(most, lasting < 0 ? this.receipts.length : lasting))
  }

  private mayKeep(account: number): boolean {
    const most = this.genesis.limits.receipts
    const free = most - this.receipts.length
    if (this.inForce === 0) return free > 0
    const family = familyOf(this, account)
    const held = this.receipts.filter((receipt) => !receipt.forgotten && familyOf(this, receipt.account) === family).length
    return held < share(most, free)
  }

  /** Answers as the first time. */
  repeat(command: Decoded, receipt: Receipt): void {
    const { kind: _kind, correlation: _correlation, sequence: _sequence, time: _time, ...rest } = receipt.result
    const time = this.inForce >= 4 ? receipt.time : this.now
    this.result(command, { ...rest, time, flags: (Number(rest['flags'] ?? 0) | Flag.REPEATED) >>> 0 })
  }

  /** Keeps the answer of a keyed command that was accepted. */
  keep(command: Decoded, account: number, result: Decoded): void {
    if ((Number(command['options']) & Option.KEYED) === 0) return
    const [key, payload] = [String(command['key']), String(command['payload'])]
    this.receipts.push({ account, key, payload, time: this.now, result, forgotten: false })
  }
}

/** The first time a faucet request passes; 0: no request in the window (or none ever allowed). */
function nextMint(exchange: NaiveExchange, account: number): number {
  const limit = exchange.genesis.faucetDailyLimit
  const recent = exchange.accounts[account]!.mints.filter((time) => time + DAY_MS > exchange.now)
  if (recent.length === 0 || limit === 0) return 0
  return recent.length < limit ? exchange.now : recent[recent.length - limit]! + DAY_MS
}

function mintRefusal(exchange: NaiveExchange, account: number, asset: number): number {
  const { assets, faucetDailyLimit } = exchange.genesis
  if (account < 0) return -account
  if (exchange.maintenance) return CODE.OPERATIONS_BLOCKED
  if (asset < 0 ? faucetDailyLimit === 0 : (assets[asset]?.faucetAtoms ?? 0n) === 0n) return CODE.FAUCET_ASSET
  if (faucetDailyLimit === 0 || nextMint(exchange, account) > exchange.now) return CODE.FAUCET_LIMIT
  const wanted = assets.filter((each) => asset < 0 || each.index === asset)
  const some = asset < 0 && exchange.inForce >= 2
  const left = some ? wanted.some((each) => each.faucetAtoms > 0n && isLeft(exchange, each)) :
    wanted.every((each) => isLeft(exchange, each))
  return left ? 0 : CODE.OVERLOADED
}

/** The faucet may mint this asset once more. */
const isLeft = (exchange: NaiveExchange, { index, faucetAtoms }: Genesis['assets'][number]): boolean => fits(exchange, index, faucetAtoms)

function mint(exchange: NaiveExchange, command: Decoded): void {
  const signed = owner(exchange, command)
  const account = Math.max(-1, signed)
  const asset = Number(command['asset'])
  const code = mintRefusal(exchange, signed, asset)
  if (code === 0) {
    exchange.accounts[account]!.mints.push(exchange.now)
    for (const each of exchange.genesis.assets) {
      if ((asset >= 0 && each.index !== asset) || each.faucetAtoms === 0n || !isLeft(exchange, each)) continue
      exchange.issued[each.index] = exchange.issued[each.index]! + each.faucetAtoms
      exchange.pay(account, each.index, each.faucetAtoms)
      exchange.events.push({
        layout: CREDIT,
        values: {
          kind: EventType.CREDIT, account, sequence: exchange.sequence, time: exchange.now, asset: each.index, source: 1,
          amount: each.faucetAtoms,
          available: exchange.available(account, each.index), locked: exchange.locked(account, each.index),
          version: exchange.accounts[account]!.version[each.index]!,
        },
      })
    }
  }
  const detail = code === CODE.AGENT_NOT_ALLOWED ? 9 : asset
  exchange.result(command, { code, account, detail, expiresAt: account < 0 ? 0 : nextMint(exchange, account) })
}
