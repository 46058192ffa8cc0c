/**
 * Public identifiers: UUIDs computed from sequence numbers (RFC 9562 version 8), so that replay gives the same ids.
 *
 *   ssssssss-ssss-8kkk-vvvv-vvvvcccccccc
 *   s  sequence of the command that made the thing, 48 bits
 *   k  kind (order, trade, user, ...), 12 bits
 *   v  variant bits 10 and a 30-bit number: the order's slot, the fill's index, the account's row
 *   c  check bits over the rest: an altered id is unknown instead of naming something else
 *
 * The slot inside an order id makes cancel O(1) without any map; the sequence makes it impossible to hit a later order in
 * the same slot.
 */
export const IdKind = {
  ORDER: 1, TRADE: 2, USER: 3, SESSION: 4, MOVEMENT: 5, APPLICATION: 6, AGENT: 7, SPEND_LIMIT: 8, ASSET: 9, PAIR: 10,
  /** The parent is named by the user's sequence and row: it has its id before it is made. */
  PARENT_MARGIN: 11, MARGIN_ACCOUNT: 12, RISK_BUCKET: 13, POSITION: 14,
  /** Conditional orders: the number is the leg (ConditionType). Of a pair that cancels each other: 0. */
  CONDITIONAL_ORDER: 15, OCO_GROUP: 16, TWAP_ORDER: 17,
  FOLLOW: 18,
  /** Row and sequence of a withdrawal; the sequence is its nonce as well. */
  WITHDRAWAL: 19,
} as const

/** A parsed identifier. `slot` is the 30-bit number. */
export interface Id {
  kind: number
  sequence: number
  slot: number
}

const HEX16 = Array.from({ length: 0x10000 }, (_, i) => i.toString(16).padStart(4, '0'))

function checkBits(kind: number, high: number, low: number, slot: number): number {
  let h = Math.imul(low ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(high + kind * 0x10001, 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 15) ^ slot, 0x27d4eb2f)
  h = Math.imul(h ^ (h >>> 13), 0x165667b1)
  return (h ^ (h >>> 16)) >>> 0
}

/** Formats an id. `sequence` 0..2^48-1, `slot` 0..2^30-1. */
export function formatId(kind: number, sequence: number, slot: number): string {
  const high = Math.floor(sequence / 0x10000)
  const low16 = sequence % 0x10000
  const low = ((high << 16) | low16) >>> 0
  const top = Math.floor(high / 0x10000)
  const check = checkBits(kind, top, low, slot)
  const tagged = (0x80000000 | slot) >>> 0
  const head = `${HEX16[top]}${HEX16[high % 0x10000]}-${HEX16[low16]}-8${HEX16[kind]!.slice(1)}`
  return `${head}-${HEX16[tagged >>> 16]}-${HEX16[tagged & 0xffff]}${HEX16[check >>> 16]}${HEX16[check & 0xffff]}`
}

/** Writes the 16 bytes of an id at `at`, as {@link formatId} spells them. */
export function writeId(view: DataView, at: number, kind: number, sequence: number, slot: number): void {
  const high = Math.floor(sequence / 0x10000)
  const low16 = sequence % 0x10000
  const low = ((high << 16) | low16) >>> 0
  view.setUint32(at, high)
  view.setUint32(at + 4, (low16 << 16) | 0x8000 | kind)
  view.setUint32(at + 8, 0x80000000 | slot)
  view.setUint32(at + 12, checkBits(kind, Math.floor(high / 0x10000), low, slot))
}

/** Parses an id of the given kind; `null` when it is malformed, of another kind, or not one of ours. */
export function parseId(kind: number, text: string): Id | null {
  if (text.length !== 36) return null
  const sequence = Number.parseInt(text.slice(0, 8), 16) * 0x10000 + Number.parseInt(text.slice(9, 13), 16)
  const slot = Number.parseInt(text.slice(19, 23) + text.slice(24, 28), 16) & 0x3fffffff
  if (!Number.isSafeInteger(sequence) || formatId(kind, sequence, slot) !== text.toLowerCase()) return null
  return { kind, sequence, slot }
}

export const orderId = (sequence: number, slot: number): string => formatId(IdKind.ORDER, sequence, slot)
export const tradeId = (sequence: number, index: number): string => formatId(IdKind.TRADE, sequence, index)
export const userId = (sequence: number, account: number): string => formatId(IdKind.USER, sequence, account)
export const applicationId = (sequence: number, application: number): string => formatId(IdKind.APPLICATION, sequence, application)
export const agentId = (sequence: number, agent: number): string => formatId(IdKind.AGENT, sequence, agent)
export const spendLimitId = (sequence: number, row: number): string => formatId(IdKind.SPEND_LIMIT, sequence, row)
export const assetId = (sequence: number, asset: number): string => formatId(IdKind.ASSET, sequence, asset)
export const pairId = (sequence: number, pair: number): string => formatId(IdKind.PAIR, sequence, pair)
export const movementId = (sequence: number, index: number): string => formatId(IdKind.MOVEMENT, sequence, index)
export const parentMarginId = (accountSequence: number, account: number): string => formatId(IdKind.PARENT_MARGIN, accountSequence, account)
export const marginAccountId = (sequence: number, row: number): string => formatId(IdKind.MARGIN_ACCOUNT, sequence, row)
export const riskBucketId = (sequence: number, row: number): string => formatId(IdKind.RISK_BUCKET, sequence, row)
export const positionId = (sequence: number, row: number): string => formatId(IdKind.POSITION, sequence, row)
export const conditionalOrderId = (sequence: number, leg: number): string => formatId(IdKind.CONDITIONAL_ORDER, sequence, leg)
export const ocoGroupId = (sequence: number): string => formatId(IdKind.OCO_GROUP, sequence, 0)
export const twapOrderId = (sequence: number, row: number): string => formatId(IdKind.TWAP_ORDER, sequence, row)
export const followId = (sequence: number, row: number): string => formatId(IdKind.FOLLOW, sequence, row)
export const withdrawalId = (sequence: number, row: number): string => formatId(IdKind.WITHDRAWAL, sequence, row)
