/**
 * Read model of movements: balances integrated from the events, and a posting for every event that moved one (layout.ts).
 *
 * Holds: what an order locks is in its RESULT, what it gives back in its end; a fill takes from what rests. A resting BUY pays its
 * value and a positive fee out of what it locked, a rebate goes to available; everything else pays from available (ledger/settle.ts).
 * A withdrawal locks when it is made, and its end takes from that or gives it back. So the balances here are those of the engine, to the
 * atom, without asking it.
 *
 * Movements of a command are numbered over all accounts in the order of its events. Of a fill the taker's come first, then the
 * maker's, each: quote leg, base leg, fee or rebate. An order that its account's master pays for moves the master's balances; of its fills
 * the account has a posting too, which is its trade and moves nothing (layout.ts). Every posting that moves something is listed for
 * its application. What fills of perpetuals and collateral do to margin accounts is in margin_movements.ts; balances of the account change
 * with a CREDIT alone there.
 */
import { CANCEL_ANSWER } from '../../layout/answers.ts'
import { Flag } from '../../layout/command.ts'
import { APPLICATION_FEE, CREDIT, CreditSource, FILL, ORDER_ENDED, RESULT, WITHDRAWAL } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { WithdrawalStatus } from '../../layout/vault.ts'
import type { Genesis } from '../../state/genesis.ts'
import { HOLDING, holdingAt, HOUR_MS, type AccountsModel } from './accounts.ts'
import type { Identities } from './identities.ts'
import { buys, Flow, Posting, POSTING, rests, shapeOf } from '../store/layout.ts'
import type { PortfolioModel } from './portfolio.ts'
import type { Postings } from './postings.ts'

const { at: P } = POSTING
const { at: FIL } = FILL
const { at: RES } = RESULT
const { at: END } = ORDER_ENDED
const { at: CRE } = CREDIT
const { at: FEE } = APPLICATION_FEE
const { at: WIT } = WITHDRAWAL
const { AVAILABLE, LOCKED } = HOLDING

/** Where a FILL keeps what concerns each side. */
interface Side {
  readonly account: number
  readonly order: number
  readonly slot: number
  readonly fee: number
  readonly flags: number
}
const TAKER: Side = { account: FIL.takerAccount, order: FIL.sequence, slot: FIL.takerSlot, fee: FIL.takerFee, flags: FIL.takerFlags }
const MAKER: Side = {
  account: FIL.makerAccount, order: FIL.makerSequence, slot: FIL.makerSlot, fee: FIL.makerFee, flags: FIL.makerFlags,
}

export interface MovementsModel {
  filled(events: Views, base: number): void
  /** RESULT of a placement: what it locks, if it rests. */
  locked(events: Views, base: number): void
  ended(events: Views, base: number): void
  /** RESULT of CANCEL_ORDER. */
  cancelled(events: Views, base: number): void
  credited(events: Views, base: number): void
  /** APPLICATION_FEE, after the FILL that it is of. */
  charged(events: Views, base: number): void
  /** WITHDRAWAL: one that was made, or has come to its end; any other moves nothing. */
  withdrawn(events: Views, base: number): void
}

/** What a CREDIT is. */
const CREDITED: Readonly<Record<number, number>> = {
  [CreditSource.FAUCET]: Posting.CREDIT, [CreditSource.APPLICATION_FEE]: Posting.APPLICATION_FEE,
  [CreditSource.REVENUE_SHARE]: Posting.REVENUE_SHARE, [CreditSource.REFERRAL_REWARD]: Posting.REFERRAL_REWARD,
  [CreditSource.DEPOSIT]: Posting.DEPOSIT,
}
/** What becomes of the atoms of a withdrawal, by its status. */
const WITHDRAWN: Readonly<Record<number, number>> = {
  [WithdrawalStatus.PENDING]: Flow.NONE, [WithdrawalStatus.CONFIRMED]: Flow.OUT, [WithdrawalStatus.FAILED]: Flow.IN,
  [WithdrawalStatus.EXPIRED]: Flow.IN, [WithdrawalStatus.CANCELLED]: Flow.IN,
}

class Movements implements MovementsModel {
  readonly #postings: Postings
  readonly #identities: Identities
  readonly #accounts: AccountsModel
  readonly #portfolio: PortfolioModel
  readonly #genesis: Genesis
  /** Base atoms of the fill at hand: a register, as in the engine. */
  readonly #base = new BigInt64Array(1)

  constructor(
    postings: Postings, genesis: Genesis, identities: Identities, accounts: AccountsModel, portfolio: PortfolioModel,
  ) {
    this.#postings = postings
    this.#identities = identities
    this.#accounts = accounts
    this.#portfolio = portfolio
    this.#genesis = genesis
  }

  filled(events: Views, base: number): void {
    const { i32 } = events
    if (this.#genesis.pairs[i32[base + FIL.pair]!]!.perp !== null) return this.#filledOnMargin(events, base)
    this.#base[0] = BigInt(i32[base + FIL.lots]! | 0) * this.#genesis.pairs[i32[base + FIL.pair]!]!.lotAtoms
    const sells = (i32[base + FIL.takerFlags]! & Flag.SELL) !== 0
    this.#side(events, base, TAKER, MAKER, sells ? Posting.TAKER_SELLS : Posting.TAKER_BUYS)
    this.#side(events, base, MAKER, TAKER, sells ? Posting.MAKER_BUYS : Posting.MAKER_SELLS)
  }

  /** A fill of a perpetual: a trade of both accounts that moves no balance. Profit, funding and fees come with their positions. */
  #filledOnMargin(events: Views, base: number): void {
    const { i32, f64, i64 } = events
    const pair = i32[base + FIL.pair]!
    const sells = (i32[base + FIL.takerFlags]! & Flag.SELL) !== 0
    const hour = Math.floor(f64[(base + FIL.time) >>> 1]! / HOUR_MS)
    const side = (own: Side, other: Side, kind: number): void => {
      const account = i32[base + own.account]!
      this.#portfolio.tradedOnMargin(this.#accounts.touch(account, hour), pair, i64[(base + FIL.quote) >>> 1]!)
      this.#post(events, base, own, other, account, kind | Posting.FUNDED)
    }
    side(TAKER, MAKER, sells ? Posting.TAKER_SELLS : Posting.TAKER_BUYS)
    side(MAKER, TAKER, sells ? Posting.MAKER_BUYS : Posting.MAKER_SELLS)
  }

  locked(events: Views, base: number): void {
    this.#hold(events, base, Posting.LOCK, RES.account, RES.pair, RES.flags, RES.orderSequence, RES.slot, RES.hold)
  }

  ended(events: Views, base: number): void {
    this.#hold(events, base, Posting.UNLOCK, END.account, END.pair, END.flags, END.orderSequence, END.slot, END.released)
  }

  cancelled(events: Views, base: number): void {
    this.#hold(events, base, Posting.UNLOCK, RES.account, RES.pair, RES.flags, RES.orderSequence, RES.slot, CANCEL_ANSWER.at.released)
  }

  credited({ i32, f64, i64 }: Views, base: number): void {
    const sequence = f64[(base + CRE.sequence) >>> 1]!
    const time = f64[(base + CRE.time) >>> 1]!
    const account = i32[base + CRE.account]!
    const asset = i32[base + CRE.asset]!
    const row = this.#accounts.touch(account, Math.floor(time / HOUR_MS))
    const { rows } = this.#accounts
    const holding = holdingAt(row, asset)
    this.#portfolio.credited(row, asset, i64[(base + CRE.amount) >>> 1]!)
    rows[holding + AVAILABLE] = rows[holding + AVAILABLE]! + i64[(base + CRE.amount) >>> 1]!
    const kind = CREDITED[i32[base + CRE.source]!] ?? Posting.TRANSFER
    const flow = kind === Posting.CREDIT ? Flow.NONE : i32[base + CRE.amount + 1]! < 0 ? Flow.OUT : Flow.IN
    const at = this.#postings.append(account, sequence, time, kind, asset)
    this.#postings.refer(account, sequence, shapeOf(kind, flow, asset))
    const to = this.#postings.views.i64
    to[(at + P.amount) >>> 1] = i64[(base + CRE.amount) >>> 1]!
    to[(at + P.available) >>> 1] = rows[holding + AVAILABLE]!
    to[(at + P.locked) >>> 1] = rows[holding + LOCKED]!
  }

  charged({ i32, f64, i64 }: Views, base: number): void {
    const [account, asset] = [i32[base + FEE.account]!, i32[base + FEE.asset]!]
    const [sequence, time] = [f64[(base + FEE.sequence) >>> 1]!, f64[(base + FEE.time) >>> 1]!]
    const amount = i64[(base + FEE.amount) >>> 1]!
    const { views } = this.#postings
    const trade = this.#postings.trade(account, sequence, i32[base + FEE.index]!)
    views.i32[trade + P.charged] = 1
    views.i64[(trade + P.otherFee) >>> 1] = amount
    // Of an order of a perpetual the bucket paid: COLLATERAL told of it.
    if ((i32[base + FEE.flags]! & Flag.MARGIN) !== 0) return
    const payer = this.#identities.payerOf(account, i32[base + FEE.flags]!)
    const row = this.#accounts.touch(payer, Math.floor(time / HOUR_MS))
    const { rows } = this.#accounts
    const holding = holdingAt(row, asset)
    this.#portfolio.charged(row, asset, amount)
    const from = i32[base + FEE.rested] === 1 && (i32[base + FEE.flags]! & Flag.SELL) === 0 ? LOCKED : AVAILABLE
    rows[holding + from] = rows[holding + from]! - amount
    const at = this.#postings.append(payer, sequence, time, Posting.APPLICATION_FEE, asset)
    this.#postings.refer(payer, sequence, shapeOf(Posting.APPLICATION_FEE, Flow.OUT, asset))
    views.i32[at + P.index] = i32[base + FEE.index]!
    views.f64[(at + P.orderSequence) >>> 1] = f64[(base + FEE.orderSequence) >>> 1]!
    views.i32[at + P.slot] = i32[base + FEE.slot]!
    views.i64[(at + P.amount) >>> 1] = -amount
    views.i64[(at + P.available) >>> 1] = rows[holding + AVAILABLE]!
    views.i64[(at + P.locked) >>> 1] = rows[holding + LOCKED]!
  }

  withdrawn({ i32, f64, i64 }: Views, base: number): void {
    const [status, before] = [i32[base + WIT.status]!, i32[base + WIT.before]!]
    const flow = WITHDRAWN[status]
    // An approval leaves it PENDING.
    if (flow === undefined || status === before) return
    const [account, asset] = [i32[base + WIT.account]!, i32[base + WIT.asset]!]
    const [sequence, time] = [f64[(base + WIT.sequence) >>> 1]!, f64[(base + WIT.time) >>> 1]!]
    const amount = i64[(base + WIT.amount) >>> 1]!
    const row = this.#accounts.touch(account, Math.floor(time / HOUR_MS))
    const { rows } = this.#accounts
    const holding = holdingAt(row, asset)
    if (flow === Flow.OUT) this.#portfolio.credited(row, asset, -amount)
    else rows[holding + AVAILABLE] = rows[holding + AVAILABLE]! + (flow === Flow.IN ? amount : -amount)
    rows[holding + LOCKED] = rows[holding + LOCKED]! + (flow === Flow.NONE ? amount : -amount)
    const at = this.#postings.append(account, sequence, time, Posting.WITHDRAWAL, asset)
    this.#postings.refer(account, sequence, shapeOf(Posting.WITHDRAWAL, flow, asset))
    const { views } = this.#postings
    views.i32[at + P.index] = flow
    views.f64[(at + P.orderSequence) >>> 1] = f64[(base + WIT.withdrawalSequence) >>> 1]!
    views.i32[at + P.slot] = i32[base + WIT.row]!
    views.i64[(at + P.amount) >>> 1] = amount
    views.i64[(at + P.available) >>> 1] = rows[holding + AVAILABLE]!
    views.i64[(at + P.locked) >>> 1] = rows[holding + LOCKED]!
  }

  /** Balances and postings of one side of the FILL at `base`. */
  #side(events: Views, base: number, own: Side, other: Side, kind: number): void {
    const { i32, f64, i64 } = events
    const account = i32[base + own.account]!
    const payer = this.#identities.payerOf(account, i32[base + own.flags]!)
    const pair = i32[base + FIL.pair]!
    const hour = Math.floor(f64[(base + FIL.time) >>> 1]! / HOUR_MS)
    const trader = this.#accounts.touch(account, hour)
    const row = payer === account ? trader : this.#accounts.touch(payer, hour)
    const quote = holdingAt(row, this.#genesis.pairs[pair]!.quote)
    const asset = holdingAt(row, this.#genesis.pairs[pair]!.base)
    const fee = base + own.fee
    this.#portfolio.filled(row, trader, pair, buys(kind), i64[(base + FIL.quote) >>> 1]!, this.#base[0]!, i64[fee >>> 1]!)
    this.#exchange(quote, asset, kind, i64[(base + FIL.quote) >>> 1]!, i64[fee >>> 1]!, i32[fee + 1]! < 0)
    const isFree = (i32[fee]! | i32[fee + 1]!) === 0
    const funds = payer === account ? kind : kind | Posting.FUNDS
    const at = this.#post(events, base, own, other, payer, funds)
    const { rows } = this.#accounts
    const { i64: to } = this.#postings.views
    to[(at + P.available) >>> 1] = rows[quote + AVAILABLE]!
    to[(at + P.locked) >>> 1] = rows[quote + LOCKED]!
    to[(at + P.baseAvailable) >>> 1] = rows[asset + AVAILABLE]!
    to[(at + P.baseLocked) >>> 1] = rows[asset + LOCKED]!
    const flow = isFree ? Flow.NONE : i32[fee + 1]! < 0 ? Flow.IN : Flow.OUT
    this.#postings.refer(payer, f64[(base + FIL.sequence) >>> 1]!, shapeOf(funds, flow, pair))
    if (payer !== account) this.#post(events, base, own, other, account, kind | Posting.FUNDED)
  }

  /** A posting of `account` for one side of the FILL at `base`, without balances; its address. */
  #post(events: Views, base: number, own: Side, other: Side, account: number, kind: number): number {
    const { i32, f64, i64 } = events
    const at = this.#postings.append(account, f64[(base + FIL.sequence) >>> 1]!, f64[(base + FIL.time) >>> 1]!, kind, i32[base + FIL.pair]!)
    const { views } = this.#postings
    views.i32[at + P.index] = i32[base + FIL.index]!
    views.f64[(at + P.orderSequence) >>> 1] = f64[(base + own.order) >>> 1]!
    views.i32[at + P.slot] = i32[base + own.slot]!
    views.i32[at + P.otherSlot] = i32[base + other.slot]!
    views.f64[(at + P.otherSequence) >>> 1] = f64[(base + other.order) >>> 1]!
    views.i32[at + P.otherAccount] = i32[base + other.account]!
    views.i32[at + P.price] = i32[base + FIL.price]!
    views.i32[at + P.lots] = i32[base + FIL.lots]!
    views.i64[(at + P.amount) >>> 1] = i64[(base + FIL.quote) >>> 1]!
    views.i64[(at + P.fee) >>> 1] = i64[(base + own.fee) >>> 1]!
    views.i64[(at + P.otherFee) >>> 1] = i64[(base + other.fee) >>> 1]!
    return at
  }

  /** Moves the atoms of one side: `quote` and `asset` are its holdings of the quote and the base asset. */
  #exchange(quote: number, asset: number, kind: number, amount: bigint, fee: bigint, rebate: boolean): void {
    const { rows } = this.#accounts
    const atoms = this.#base[0]!
    const from = rests(kind) ? LOCKED : AVAILABLE
    if (buys(kind)) {
      rows[asset + AVAILABLE] = rows[asset + AVAILABLE]! + atoms
      rows[quote + from] = rows[quote + from]! - amount
      const paying = rebate ? AVAILABLE : from
      rows[quote + paying] = rows[quote + paying]! - fee
    } else {
      rows[asset + from] = rows[asset + from]! - atoms
      rows[quote + AVAILABLE] = rows[quote + AVAILABLE]! + amount - fee
    }
  }

  /** A LOCK or UNLOCK; the other arguments are words of the event. */
  #hold(
    events: Views, base: number, kind: number, account: number, pair: number, flags: number, order: number, slot: number, amount: number,
  ): void {
    const { i32, f64, i64 } = events
    const atoms = base + amount
    const market = this.#genesis.pairs[i32[base + pair]!]!
    // Of an order of a perpetual it is collateral: COLLATERAL tells of it.
    if ((i32[atoms]! | i32[atoms + 1]!) === 0 || market.perp !== null) return
    // RESULT and ORDER_ENDED keep sequence and time in the same words.
    const sequence = f64[(base + RES.sequence) >>> 1]!
    const time = f64[(base + RES.time) >>> 1]!
    const payer = this.#identities.payerOf(i32[base + account]!, i32[base + flags]!)
    const asset = (i32[base + flags]! & Flag.SELL) !== 0 ? market.base : market.quote
    const row = this.#accounts.touch(payer, Math.floor(time / HOUR_MS))
    const { rows } = this.#accounts
    const holding = holdingAt(row, asset)
    if (kind === Posting.LOCK) {
      rows[holding + AVAILABLE] = rows[holding + AVAILABLE]! - i64[atoms >>> 1]!
      rows[holding + LOCKED] = rows[holding + LOCKED]! + i64[atoms >>> 1]!
    } else {
      rows[holding + AVAILABLE] = rows[holding + AVAILABLE]! + i64[atoms >>> 1]!
      rows[holding + LOCKED] = rows[holding + LOCKED]! - i64[atoms >>> 1]!
    }
    const at = this.#postings.append(payer, sequence, time, kind, asset)
    this.#postings.refer(payer, sequence, shapeOf(kind, Flow.NONE, asset))
    const { views } = this.#postings
    views.f64[(at + P.orderSequence) >>> 1] = f64[(base + order) >>> 1]!
    views.i32[at + P.slot] = i32[base + slot]!
    views.i64[(at + P.amount) >>> 1] = i64[atoms >>> 1]!
    views.i64[(at + P.available) >>> 1] = rows[holding + AVAILABLE]!
    views.i64[(at + P.locked) >>> 1] = rows[holding + LOCKED]!
  }
}

export const createMovements = (
  postings: Postings, genesis: Genesis, identities: Identities, accounts: AccountsModel, portfolio: PortfolioModel,
): MovementsModel => new Movements(postings, genesis, identities, accounts, portfolio)
