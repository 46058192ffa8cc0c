/**
 * Collateral moves, margin sub-accounts and risk buckets as commands, in the naive exchange (naive_margin.ts). What a bucket lets go is the
 * specification's `withdrawableCollateral`: gains never count, losses do, and the close-out of a flat bucket is all or nothing.
 */
import { CREDIT, EventType } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { lacksToOpenBucket, owner, refuseOwner } from './naive_agents.ts'
import { familyOf, share } from './naive_families.ts'
import {
  bucketRequirement, bucketsOf, freeOf, fundingOf, isPerp, isStale, positionsOf, unrealizedOf, type Bucket, type MarginAccount,
} from './naive_margin.ts'
import {
  bucketRoom, closeOut, CollateralReason, collateralOf, findBucket, giveUpBucket, isFlat, makeBucket, makeMarginAccount, makeParent,
  parentOf, parentRoom, PositionReason, tellCollateral, tellPosition, touchPosition,
} from './naive_margin_changes.ts'
import { marginNamed } from './naive_margin_orders.ts'
import type { Ex } from './naive_terms.ts'

const MOST = 4_600_000_000_000_000_000n
const MOVES = ['DEPOSIT', 'WITHDRAW', 'TO_SUB', 'FROM_SUB', 'TO_BUCKET', 'FROM_BUCKET'] as const
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The largest part that a bucket lets go: what is neither lost nor needed. */
export function partOf(ex: Ex, bucket: Bucket): bigint {
  const lost = bucket.realized < 0n ? -bucket.realized : 0n
  const falling = positionsOf(ex, bucket).map((each) => unrealizedOf(ex, each) + fundingOf(ex, each)).filter((profit) => profit < 0n)
  const kept = bucket.allocated - lost + falling.reduce((sum, profit) => sum + profit, 0n)
  const needed = bucketRequirement(ex, bucket) - bucket.pending
  const part = least(kept, kept - (needed > 0n ? needed : 0n))
  return part > 0n ? part : 0n
}

/** All of a flat bucket goes when its margin account gets no loss that the bucket cannot pay. */
const isCloseOut = (ex: Ex, bucket: Bucket, atoms: bigint): boolean =>
  isFlat(ex, bucket) && atoms === bucket.allocated && bucket.allocated + bucket.realized >= 0n

interface Named { margin: MarginAccount | null; bucket: Bucket | null }

/** What the command names; a number: why it cannot be that. */
function namedBy(ex: Ex, command: Decoded, move: string, account: number): Named | number {
  const [row, number, sequence] = [Number(command['marginAccount']), Number(command['bucket']), Number(command['createdSequence'])]
  if (move === 'TO_BUCKET' || move === 'FROM_BUCKET') {
    const bucket = ex.margins.buckets.find(({ row: of, margin, createdSequence }) =>
      of === number && margin.account === account && createdSequence === sequence)
    if (bucket === undefined) return CODE.NOT_FOUND
    return row >= 0 && row !== bucket.margin.row ? CODE.RISK_BUCKET_MISMATCH : { margin: bucket.margin, bucket }
  }
  const margin = marginNamed(ex, account, row, sequence)
  if (row >= 0 && margin === null) return CODE.NOT_FOUND
  const ofSub = move === 'TO_SUB' || move === 'FROM_SUB'
  return ofSub && (margin === null || margin.parent) ? CODE.NOT_FOUND : { margin, bucket: null }
}

/** What there is for the move, atoms. */
function availableFor(ex: Ex, move: string, account: number, { margin, bucket }: Named): bigint {
  if (move === 'DEPOSIT') return ex.available(account, collateralOf(ex))
  if (move === 'FROM_BUCKET') return partOf(ex, bucket!)
  if (move === 'TO_SUB') return freeOf(ex, parentOf(ex, account)!)
  return margin === null ? 0n : freeOf(ex, margin)
}

interface Short { code: number; available: bigint }

/** Why the move is refused; 0: it is not. */
function moveRefusal(ex: Ex, move: string, account: number, named: Named, atoms: bigint): number | Short {
  const { margin, bucket } = named
  if (margin?.follow !== undefined) return CODE.COPY_MARGIN_ACCOUNT
  if (atoms <= 0n || atoms > MOST) return CODE.VALIDATION_ERROR
  if (bucket !== null && (bucket.status === 'LIQUIDATING' || bucket.status === 'BAD_DEBT')) return CODE.RISK_BUCKET_IN_LIQUIDATION
  // What could be taken out would be that of a price which nobody trusts.
  if (move === 'FROM_BUCKET' && positionsOf(ex, bucket!).some(({ pair }) => isStale(ex, pair))) return CODE.PRICE_STALE
  if (move === 'FROM_BUCKET' && isCloseOut(ex, bucket!, atoms)) return 0
  const available = availableFor(ex, move, account, named)
  if (atoms > available) return { code: move === 'DEPOSIT' ? CODE.INSUFFICIENT_BALANCE : CODE.INSUFFICIENT_COLLATERAL, available }
  const none = move === 'DEPOSIT' && margin === null ? parentRoom(ex, account) : null
  return none === null ? 0 : CODE[none]
}

/** MOVE_COLLATERAL. */
export function moveCollateral(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  const known = ex.admit(command, account)
  if (typeof known === 'object') return ex.repeat(command, known)
  const early = known || (ex.maintenance ? CODE.OPERATIONS_BLOCKED : 0)
  if (early !== 0) return refuseOwner(ex, command, early)
  const move = MOVES[Number(command['move'])]!
  const atoms = BigInt(command['amount']!)
  const named = namedBy(ex, command, move, account)
  if (typeof named === 'number') return refuseOwner(ex, command, named)
  const refusal = moveRefusal(ex, move, account, named, atoms)
  if (typeof refusal !== 'number') {
    const { code, available } = refusal
    return void ex.result(command, { code, account: -1, hold: atoms, filledQuote: available, detail2: collateralOf(ex) })
  }
  if (refusal !== 0) return refuseOwner(ex, command, refusal)
  const { bucket } = named
  const margin = carry(ex, move, account, named, atoms)
  const answer: Decoded = {
    account, detail: margin.row, detail2: bucket?.row ?? -1, originalSequence: margin.createdSequence, filledQuote: margin.deposited,
    hold: bucket?.allocated ?? 0n, orderSequence: ex.sequence,
  }
  ex.keep(command, account, ex.result(command, answer))
}

/** Does the move; the margin account that it is about. */
function carry(ex: Ex, move: string, account: number, { margin, bucket }: Named, atoms: bigint): MarginAccount {
  if (move === 'DEPOSIT' || move === 'WITHDRAW') {
    const own = margin ?? makeParent(ex, account)
    const into = move === 'DEPOSIT' ? atoms : -atoms
    own.deposited += into
    credit(ex, account, -into)
    tellCollateral(ex, own, null, CollateralReason[move], into)
    return own
  }
  if (move === 'TO_SUB' || move === 'FROM_SUB') {
    const parent = parentOf(ex, account)!
    const [from, to] = move === 'TO_SUB' ? [parent, margin!] : [margin!, parent]
    from.deposited -= atoms
    to.deposited += atoms
    tellCollateral(ex, from, null, CollateralReason.SUB_ACCOUNT, -atoms)
    tellCollateral(ex, to, null, CollateralReason.SUB_ACCOUNT, atoms)
    return margin!
  }
  if (move === 'FROM_BUCKET' && isCloseOut(ex, bucket!, atoms)) closeOut(ex, bucket!)
  else allocate(ex, bucket!, move === 'TO_BUCKET' ? atoms : -atoms)
  return bucket!.margin
}

/** Moves free collateral into a bucket, or (below 0) back; the position of an isolated one is told of it. */
export function allocate(ex: Ex, bucket: Bucket, atoms: bigint): void {
  bucket.allocated += atoms
  if (bucket.status === 'CLOSED' && bucket.allocated !== 0n) bucket.status = 'ACTIVE'
  tellCollateral(ex, bucket.margin, bucket, CollateralReason.BUCKET, atoms)
  const position = positionsOf(ex, bucket)[0]
  if (bucket.cross || position === undefined || position.lots === 0) return
  touchPosition(ex, position)
  tellPosition(ex, position, PositionReason.MARGIN, 0n)
}

function credit(ex: Ex, account: number, atoms: bigint): void {
  const asset = collateralOf(ex)
  ex.pay(account, asset, atoms)
  ex.events.push({
    layout: CREDIT,
    values: {
      kind: EventType.CREDIT, account, sequence: ex.sequence, time: ex.now, asset, source: 3, amount: atoms,
      available: ex.available(account, asset), locked: ex.locked(account, asset), version: ex.accounts[account]!.version[asset]!,
    },
  })
}

/** OPEN_MARGIN_ACCOUNT. */
export function openMarginAccount(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  if (ex.maintenance) return refuseOwner(ex, command, CODE.OPERATIONS_BLOCKED)
  const code = subRefusal(ex, account)
  if (code !== 0) return refuseOwner(ex, command, code)
  makeParent(ex, account)
  const made = makeMarginAccount(ex, account, false, String(command['label']))
  ex.result(command, { account, detail: made.row, originalSequence: ex.sequence })
}

/** Why an account may not have another margin sub-account; 0: it may. */
export function subRefusal(ex: Ex, account: number): number {
  const { marginAccounts: most, marginSubAccounts } = ex.genesis.limits
  const subs = ex.margins.accounts.filter((each) => each.account === account && !each.parent).length
  // A parent that is not made yet takes a row too.
  const parents = parentOf(ex, account) === null ? 1 : 0
  const held = ex.margins.accounts.filter((each) => familyOf(ex, each.account) === familyOf(ex, account)).length + parents
  const free = most - ex.margins.accounts.length - parents
  return subs >= marginSubAccounts || free <= 0 || held >= share(most, free) ? CODE.TOO_MANY_MARGIN_ACCOUNTS : 0
}

/** CLOSE_MARGIN_ACCOUNT: everything of a flat, solvent sub-account goes to the parent, or nothing does. */
export function closeMarginAccount(ex: Ex, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  if (ex.maintenance) return refuseOwner(ex, command, CODE.OPERATIONS_BLOCKED)
  const row = Number(command['marginAccount'])
  const margin = row < 0 ? null : marginNamed(ex, account, row, Number(command['createdSequence']))
  if (margin?.follow !== undefined) return refuseOwner(ex, command, CODE.COPY_MARGIN_ACCOUNT)
  if (margin === null || margin.parent) return refuseOwner(ex, command, CODE.NOT_FOUND)
  const code = whyNotClosed(ex, margin)
  if (code !== 0) return refuseOwner(ex, command, code)
  const amount = closeSub(ex, margin)
  ex.result(command, { account, detail: margin.row, hold: amount })
}

/** Why a margin sub-account cannot close now; 0: it can. */
export function whyNotClosed(ex: Ex, margin: MarginAccount): number {
  const buckets = bucketsOf(ex, margin).sort((a, b) => b.made - a.made)
  const owes = (bucket: Bucket): boolean => isFlat(ex, bucket) && bucket.allocated + bucket.realized < 0n
  if (buckets.some((bucket) => bucket.status === 'LIQUIDATING' || bucket.status === 'BAD_DEBT' || owes(bucket))) {
    return CODE.RISK_BUCKET_IN_LIQUIDATION
  }
  const waits = ex.waiting.twaps.some(({ counted }) => counted === margin)
  return waits || buckets.some((bucket) => !isFlat(ex, bucket)) ? CODE.MARGIN_ACCOUNT_NOT_FLAT : 0
}

/** Everything of a flat, solvent sub-account goes to the parent; how much that was. */
export function closeSub(ex: Ex, margin: MarginAccount): bigint {
  const buckets = bucketsOf(ex, margin).sort((a, b) => b.made - a.made)
  for (const bucket of buckets) {
    if (bucket.status !== 'CLOSED') closeOut(ex, bucket)
    giveUpBucket(ex, bucket)
  }
  const parent = parentOf(ex, margin.account)!
  const amount = margin.deposited
  margin.deposited = 0n
  tellCollateral(ex, margin, null, CollateralReason.CLOSED, -amount)
  parent.deposited += amount
  tellCollateral(ex, parent, null, CollateralReason.CLOSED, amount)
  ex.margins.accounts = ex.margins.accounts.filter((each) => each !== margin)
  ex.margins.rows.accounts.give(margin.row)
  return amount
}

/** OPEN_RISK_BUCKET: the bucket of a strategy key, made if there is none. An agent opens what it may place orders in. */
export function openRiskBucket(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return refuseOwner(ex, command, CODE.SESSION_INVALID)
  if (ex.maintenance) return refuseOwner(ex, command, CODE.OPERATIONS_BLOCKED)
  const [row, pair] = [Number(command['marginAccount']), Number(command['pair'])]
  if (pair >= 0 && !isPerp(ex, pair)) return refuseOwner(ex, command, CODE.NOT_FOUND)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToOpenBucket(agent, pair)
  if (lacking !== 0) return void ex.result(command, { code: CODE.AGENT_NOT_ALLOWED, account, detail: lacking })
  const [keyLow, keyHigh] = [Number(command['keyLow']), Number(command['keyHigh'])]
  const strategyKey = String(command['strategyKey'])
  const keyed = !strategyKey.startsWith('00')
  if ((keyLow !== 0 || keyHigh !== 0) !== keyed) return refuseOwner(ex, command, CODE.VALIDATION_ERROR)
  const margin = marginNamed(ex, account, row, Number(command['createdSequence']))
  if (row >= 0 && margin === null) return refuseOwner(ex, command, CODE.NOT_FOUND)
  const found = margin === null ? null : findBucket(ex, margin, pair < 0, pair, keyLow, keyHigh)
  if (found !== null) {
    if (found.strategyKey !== strategyKey) return refuseOwner(ex, command, CODE.RISK_BUCKET_MISMATCH)
    return void ex.result(command, { account, detail: found.row, originalSequence: found.createdSequence })
  }
  if (margin?.follow !== undefined) return refuseOwner(ex, command, CODE.COPY_MARGIN_ACCOUNT)
  const room = bucketRoom(ex, account, margin)
  if (room !== null) return refuseOwner(ex, command, CODE[room])
  const made = makeBucket(ex, margin ?? makeParent(ex, account), pair < 0, pair, keyLow, keyHigh, strategyKey)
  ex.result(command, { account, detail: made.row, detail2: 1, originalSequence: ex.sequence })
}
