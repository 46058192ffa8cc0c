/** Movements of the history: those of an account, and those of an application. A posting is up to three of them. */
import type { Genesis } from '../../state/genesis.ts'
import { buys, Flow, isFill, POSTING, POSTING_REFERENCE, Posting, rests, shapeOf } from '../store/layout.ts'
import { isOfMargin } from '../store/margin_shapes.ts'
import {
  assetOf, BASE_LEG, countRows, entryOf, findsNothing, isFiltered, passingRows, placeOf, QUOTE_LEG, rowsOf, transactionOf,
} from '../store/movement_shapes.ts'
import type { PageReader } from '../store/page_reader.ts'
import { Reference, Transaction, type ApplicationMovementsAsk, type HistoryMovement, type MovementsAsk } from './queries.ts'
import { completeMargin, marginShapeAt } from './margin_movement_answers.ts'
import { boundsOf, descend, start } from './trails.ts'
import type { VaultReader } from './vault_answers.ts'
import type { Trail } from './walk.ts'

const { at: P } = POSTING
const { at: REF } = POSTING_REFERENCE

/** The amount says whether it takes or brings. */
const isSigned = (kind: number): boolean =>
  kind === Posting.TRANSFER || kind === Posting.APPLICATION_FEE || kind === Posting.REVENUE_SHARE || kind === Posting.REFERRAL_REWARD ||
  kind === Posting.DEPOSIT

/** Shape of the posting at `at`. */
function shapeAt(views: PageReader['views'], at: number): number {
  const { i32 } = views
  const kind = i32[at + P.kind]!
  const subject = i32[at + P.subject]!
  if (isOfMargin(kind)) return marginShapeAt(views, at)
  if (kind === Posting.WITHDRAWAL) return shapeOf(kind, i32[at + P.index]!, subject)
  if (!isFill(kind)) return shapeOf(kind, isSigned(kind) ? (i32[at + P.amount + 1]! < 0 ? Flow.OUT : Flow.IN) : Flow.NONE, subject)
  const isFree = (i32[at + P.fee]! | i32[at + P.fee + 1]!) === 0
  return shapeOf(kind, isFree ? Flow.NONE : i32[at + P.fee + 1]! < 0 ? Flow.IN : Flow.OUT, subject)
}

/** What movements are made of. */
export interface MovementParts {
  readonly postings: PageReader
  readonly genesis: Genesis
  readonly vault: Pick<VaultReader, 'paidBy' | 'cameBy' | 'loads'>
}

/** Movements of one account. */
export function movementTrail(parts: MovementParts, ask: MovementsAsk): Trail<HistoryMovement> {
  const { postings: reader, genesis, vault } = parts
  const { i32, f64 } = reader.views
  const { account } = ask
  const bounds = boundsOf(ask)
  const isAny = !isFiltered(ask)
  return {
    ...descend(reader, account, findsNothing(ask) ? 0 : start(reader, account, bounds, P.sequence, P.time)),
    isOver: (at) => f64[(at + P.time) >>> 1]! < bounds.from,
    rows: (at) => (isAny ? rowsOf(shapeAt(reader.views, at)) : passingRows(shapeAt(reader.views, at), genesis, ask)),
    position: (at, row) => ({
      sequence: f64[(at + P.sequence) >>> 1]!, index: i32[at + P.number]! + placeOf(shapeAt(reader.views, at), row),
    }),
    build: (at, row) => movementAt(parts, account, at, row),
    loads: () => reader.loads + vault.loads(),
  }
}

/** Movements of all accounts of an application, by their references; only those that are shown are looked up. */
export function applicationMovementTrail(
  references: PageReader, parts: MovementParts, ask: ApplicationMovementsAsk,
): Trail<HistoryMovement> {
  const { postings, genesis, vault } = parts
  const { application } = ask
  const { i32, f64 } = references.views
  const before = (at: number): number => f64[(at + REF.before) >>> 1]!
  let left = findsNothing(ask) ? 0 : start(references, application, boundsOf(ask), REF.sequence, REF.sequence)
  /** Movements from here to the oldest. */
  const count = (): number => {
    if (left === 0) return 0
    const at = references.locate(application, left - 1)
    return before(at) + countRows(i32[at + REF.shape]!)
  }
  const posting = (at: number): number => postings.locate(i32[at + REF.account]!, f64[(at + REF.number) >>> 1]!)
  const arithmetic: Pick<Trail<HistoryMovement>, 'count' | 'drop'> = {
    count,
    drop: (rows) => {
      const all = count()
      // Whole postings only: the one in which the wanted row stands is walked through.
      left = references.search(application, left, (at) => before(at) < all - rows)
      return left === 0 ? rows : all - count()
    },
  }
  return {
    ...(isFiltered(ask) ? {} : arithmetic),
    next: () => (left > 0 ? references.locate(application, --left) : -1),
    isOver: () => false,
    rows: (at) => passingRows(i32[at + REF.shape]!, genesis, ask),
    position: (at, row) => ({
      sequence: f64[(at + REF.sequence) >>> 1]!,
      index: postings.views.i32[posting(at) + P.number]! + placeOf(i32[at + REF.shape]!, row),
    }),
    build: (at, row) => movementAt(parts, i32[at + REF.account]!, posting(at), row),
    loads: () => references.loads + postings.loads + vault.loads(),
  }
}

function movementAt({ postings: reader, genesis, vault }: MovementParts, account: number, at: number, row: number): HistoryMovement {
  const { i32, f64, i64 } = reader.views
  const shape = shapeAt(reader.views, at)
  const sequence = f64[(at + P.sequence) >>> 1]!
  const amount = i64[(at + P.amount) >>> 1]!
  const movement: HistoryMovement = {
    account,
    sequence,
    index: i32[at + P.number]! + placeOf(shape, row),
    time: f64[(at + P.time) >>> 1]!,
    asset: assetOf(shape, row, genesis),
    entry: entryOf(shape, row),
    transaction: transactionOf(shape, row),
    amount: amount < 0n ? -amount : amount,
    available: i64[(at + P.available) >>> 1]!,
    locked: i64[(at + P.locked) >>> 1]!,
    reference: Reference.ORDER,
    referenceSequence: f64[(at + P.orderSequence) >>> 1]!,
    referenceSlot: i32[at + P.slot]!,
  }
  if (isOfMargin(i32[at + P.kind]!)) completeMargin(movement, reader.views, at, row)
  else if (isFill(i32[at + P.kind]!)) completeFill(movement, reader, genesis, at, row)
  else if (i32[at + P.kind] === Posting.WITHDRAWAL) {
    movement.reference = Reference.WITHDRAWAL
    if (i32[at + P.index] === Flow.OUT) movement.txHash = vault.paidBy(account, movement.referenceSequence)
  } else if (i32[at + P.kind] === Posting.DEPOSIT) {
    Object.assign(movement, { reference: Reference.DEPOSIT, referenceSequence: sequence, txHash: vault.cameBy(account, sequence) })
  } else if (movement.transaction === Transaction.APPLICATION_FEE && amount < 0n) {
    Object.assign(movement, { reference: Reference.TRADE, referenceSequence: sequence, referenceSlot: i32[at + P.index]! })
  } else if (movement.transaction !== Transaction.TRADE) {
    const transfer = movement.transaction === Transaction.TRANSFER
    Object.assign(movement, { reference: transfer ? Reference.TRANSFER : Reference.CREDIT, referenceSequence: sequence })
  }
  return movement
}

/** What one of the movements of a fill is. The posting has the balances after all of them: those after the quote leg lack the fee. */
function completeFill(movement: HistoryMovement, { views }: PageReader, genesis: Genesis, at: number, row: number): void {
  const { i32, i64 } = views
  const fee = i64[(at + P.fee) >>> 1]!
  Object.assign(movement, { reference: Reference.TRADE, referenceSequence: movement.sequence, referenceSlot: i32[at + P.index]! })
  if (row === BASE_LEG) {
    movement.amount = BigInt(i32[at + P.lots]!) * genesis.pairs[i32[at + P.subject]!]!.lotAtoms
    movement.available = i64[(at + P.baseAvailable) >>> 1]!
    movement.locked = i64[(at + P.baseLocked) >>> 1]!
  } else if (row === QUOTE_LEG) {
    // A resting BUY pays a positive fee out of what it locked; the quote leg of a resting SELL is available.
    const kind = i32[at + P.kind]!
    if (rests(kind) && buys(kind) && fee > 0n) movement.locked += fee
    else movement.available += fee
  } else movement.amount = fee < 0n ? -fee : fee
}
