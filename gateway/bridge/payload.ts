/**
 * What an idempotency key stands for: the payload of a request in normal form, and its hash.
 *
 * The normal form is a text. It says what the client asked for by the names of the specification, and nothing of how records, flags or
 * requests are laid out, so it stays the same when those change. It begins with the kind of command and the version of the form; then come
 * the fields in the order of {@link formOfOrder} and its neighbours, `;name=value` each:
 *
 *     place/1;pair=<uuid>;side=BUY;type=LIMIT;quantity=<lots>;price=<ticks>;timeInForce=IOC;clientOrderId=5:hello
 *
 * - Prices are whole ticks of the pair and quantities whole lots, which never change for a pair: "1.50" and "1.5" are one price. Amounts
 *   are whole atoms of the asset, moments Unix ms.
 * - What has its default is left out, so a default that was said and one that was not are the same payload. In a replacement a field that
 *   is absent means "as it was", so everything that was said stands there.
 * - Texts that a client chose carry their length in front, so that no text can look like another field.
 *
 * The hash is the first 16 bytes of SHA-256 over the text. `test/unit/payload_form.test.ts` has fixed texts and hashes. A field that is
 * added later is left out when it is absent, so older payloads keep their text. A change of anything else is a new version, and then the
 * text of the version before is sent beside it for as long as its receipts last, as is done with what came before version 1:
 *
 * Before the rules 4 the hash was taken over a record of the first layout with its flag bits ({@link formerOrder}). Gateways send that one
 * too until the last receipt which may have it is over (core/view/receipts.ts, mayKnowFormerPayloads).
 */
import { hash } from 'node:crypto'
import { Flag, Option } from '../../core/layout/command.ts'
import { LegFlag } from '../../core/layout/conditional.ts'
import { FIRST_ORDER, FIRST_TRANSFER } from '../../core/layout/first_layout.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import type {
  CollateralTerms, DecimalUnits, LegsTerms, LegTerms, MarginTerms, OrderTerms, RewardsTerms, TrailTerms, TransferTerms, WithdrawalTerms,
} from './terms.ts'

/** How a hash is handed over: a character a byte, which costs two thirds of hex. Records have the first 16. */
export const HASH_TEXT = 'binary'

export const hashOf = (form: string): string => hash('sha256', form, HASH_TEXT)

/** A text that a client chose. */
const chosen = (text: string): string => `${text.length}:${text}`

/** A decimal without zeros that say nothing. */
const decimal = (value: DecimalUnits | null): string => (value === null ? '' : formatDecimal(value.units, value.scale))

/** PLACE_ORDER. What only orders of perpetuals have stands behind everything else, legs last. */
export function formOfOrder({
  pairId, flags, price, lots, slippageBps, expiresAt, clientOrderId, margin, legs,
}: OrderTerms): string {
  let form = `place/1;pair=${pairId};side=${(flags & Flag.SELL) !== 0 ? 'SELL' : 'BUY'};`
  form += (flags & Flag.MARKET) !== 0 ? `type=MARKET;quantity=${lots}` : `type=LIMIT;quantity=${lots};price=${price}`
  if ((flags & Flag.IOC) !== 0) form += ';timeInForce=IOC'
  if ((flags & Flag.FOK) !== 0) form += ';timeInForce=FOK'
  if ((flags & Flag.POST_ONLY) !== 0) form += ';postOnly=true'
  if ((flags & Flag.SLIPPAGE) !== 0) form += `;slippageToleranceBps=${slippageBps}`
  if ((flags & Flag.EXPIRES) !== 0) form += `;expirationDate=${expiresAt}`
  if ((flags & Flag.MASTER_FUNDED) !== 0) form += ';useMasterBalance=true'
  if ((flags & Flag.CANCEL_BOTH) !== 0) form += ';selfTradePreventionMode=CANCEL_BOTH'
  if (clientOrderId !== '') form += `;clientOrderId=${chosen(clientOrderId)}`
  if (margin !== null) form += formOfMargin(flags, margin)
  return legs === null ? form : form + formOfLegs(legs)
}

/**
 * Of an order of a perpetual. Margin account, bucket and position are named by the sequence that made them and their row, the parent by
 * nothing; leverage is hundredths, collateral atoms of the collateral asset.
 */
function formOfMargin(flags: number, margin: MarginTerms): string {
  const { marginAccount, accountSequence, bucket, position, namedSequence, leverage, collateral, strategyKey } = margin
  let form = ';tradingMode=MARGIN'
  if ((flags & Flag.CROSS) !== 0) form += ';marginMode=CROSS'
  if ((flags & Flag.REDUCE_ONLY) !== 0) form += ';reduceOnly=true'
  if (leverage !== 0) form += `;leverage=${leverage}`
  if (accountSequence !== 0) form += `;marginAccount=${accountSequence}/${marginAccount - 1}`
  if (position !== 0) form += `;position=${namedSequence}/${position - 1}`
  else if (bucket !== 0) form += `;riskBucket=${namedSequence}/${bucket - 1}`
  if (collateral !== 0n) form += `;riskBucketCollateral=${collateral}`
  return strategyKey === '' ? form : `${form};strategyKey=${chosen(strategyKey)}`
}

/** Legs: ticks and lots, as prices and quantities of the order are; a LIMIT order has its limit, and its time in force unless it is GTC. */
function formOfLegs({ takeProfit, stopLoss, trailingStop }: LegsTerms): string {
  let form = ''
  if (takeProfit !== null) form += `;takeProfit=${formOfTrigger(takeProfit)}`
  if (stopLoss !== null) form += `;stopLoss=${formOfTrigger(stopLoss)}`
  if (trailingStop === null) return form
  const { bps, activation } = trailingStop
  return `${form};trailingStop=${bps}${activation === 0 ? '' : `,activation=${activation}`}${formOfLeg(trailingStop)}`
}

function formOfTrigger(leg: LegTerms): string {
  let form = `${leg.trigger}`
  if ((leg.flags & LegFlag.LIMIT) !== 0) form += `,limit=${leg.limit}`
  if ((leg.flags & LegFlag.IOC) !== 0) form += ',timeInForce=IOC'
  if ((leg.flags & LegFlag.FOK) !== 0) form += ',timeInForce=FOK'
  return form + formOfLeg(leg)
}

function formOfLeg({ flags, lots, slippageBps, expiresAt }: LegTerms | TrailTerms): string {
  let form = lots === 0 ? '' : `,quantity=${lots}`
  if ((flags & LegFlag.SLIPPAGE) !== 0) form += `,slippageToleranceBps=${slippageBps}`
  return (flags & LegFlag.EXPIRES) !== 0 ? `${form},expiresAt=${expiresAt}` : form
}

/**
 * REPLACE_ORDER; the order is named by its sequence and slot, which are its id. One that is named by its client order id is another
 * payload: `order=client:5:hello`, and price and quantity are decimals, since ticks and lots are not known.
 */
export function formOfReplacement({
  targetSequence, targetSlot, named, flags, options, price, lots, clientOrderId,
}: OrderTerms): string {
  let form = `replace/1;order=${named === null ? `${targetSequence}/${targetSlot}` : `client:${chosen(named.clientOrderId)}`}`
  if ((options & Option.NEW_PRICE) !== 0) form += `;price=${named === null ? price : decimal(named.price)}`
  if ((options & Option.NEW_LOTS) !== 0) form += `;quantity=${named === null ? lots : decimal(named.quantity)}`
  if ((options & Option.NEW_POST_ONLY) !== 0) form += `;postOnly=${(flags & Flag.POST_ONLY) !== 0}`
  if ((options & Option.NEW_FUNDING) !== 0) form += `;useMasterBalance=${(flags & Flag.MASTER_FUNDED) !== 0}`
  if ((options & Option.NEW_STP) !== 0) {
    form += `;selfTradePreventionMode=${(flags & Flag.CANCEL_BOTH) !== 0 ? 'CANCEL_BOTH' : 'CANCEL_TAKER'}`
  }
  return clientOrderId === '' ? form : `${form};clientOrderId=${chosen(clientOrderId)}`
}

/** TRANSFER; the sub-account is named by its row, which is its own for ever, the asset by its place in the listing. */
export const formOfTransfer = ({ subAccount, asset, toSub, amount }: TransferTerms): string =>
  `transfer/1;subAccount=${subAccount};asset=${asset};direction=${toSub ? 'TO_SUB_ACCOUNT' : 'FROM_SUB_ACCOUNT'};amount=${amount}`

/** TRANSFER_REWARDS; the asset is named by its place in the listing. */
export const formOfRewards = ({ asset, amount }: RewardsTerms): string => `rewards/1;asset=${asset};amount=${amount}`

/** INITIATE_WITHDRAWAL; the destination stands there also when it is the wallet of the caller, said or not. */
export const formOfWithdrawal = ({ asset, amount, destination }: WithdrawalTerms): string =>
  `withdrawal/1;asset=${asset};amount=${amount};destination=${destination}`

const MOVES: readonly string[] = Object.keys(CollateralMove)

/** MOVE_COLLATERAL; a margin account and a bucket are named by the sequence that made them and their row, the parent by nothing. */
export function formOfCollateral({ move, marginAccount, bucket, createdSequence, amount }: CollateralTerms): string {
  let form = `collateral/1;move=${MOVES[move]!}`
  if (bucket >= 0) form += `;bucket=${createdSequence}/${bucket}`
  else if (marginAccount >= 0) form += `;account=${createdSequence}/${marginAccount}`
  return `${form};amount=${amount}`
}

// What was hashed before the rules 4. Nothing below ever changes but the names on the left.

const FORMER_TYPES = { place: 2, replace: 4, transfer: 15 } as const
/** Flags and options of today, and the bits they had in one word. */
const FORMER_FLAGS: readonly (readonly [flag: number, former: number])[] = [
  [Flag.SELL, 1], [Flag.MARKET, 1 << 1], [Flag.IOC, 1 << 2], [Flag.FOK, 1 << 3], [Flag.POST_ONLY, 1 << 4], [Flag.CANCEL_BOTH, 1 << 5],
  [Flag.SLIPPAGE, 1 << 7], [Flag.EXPIRES, 1 << 8], [Flag.MASTER_FUNDED, 1 << 16],
]
const FORMER_OPTIONS: readonly (readonly [option: number, former: number])[] = [
  [Option.NEW_PRICE, 1 << 10], [Option.NEW_LOTS, 1 << 11], [Option.NEW_STP, 1 << 12], [Option.NEW_POST_ONLY, 1 << 13],
  [Option.NEW_FUNDING, 1 << 18],
]
/** The mode was given; it counted when it was not the default. */
const FORMER_STP_GIVEN = 1 << 6
/** There was a key. */
const FORMER_KEYED = 1 << 9
/** Gateways always asked for SELF_TRADE. */
const FORMER_TELL_SELF_TRADE = 1 << 19

const formerBytes = Buffer.from(new ArrayBuffer(RECORD_BYTES))
const former = viewsOf(formerBytes.buffer)

/** The hash that a PLACE_ORDER or REPLACE_ORDER with these terms had. */
export function formerOrder(replaces: boolean, terms: OrderTerms): string {
  const { at } = FIRST_ORDER
  former.i32.fill(0)
  former.u32[at.kind] = replaces ? FORMER_TYPES.replace : FORMER_TYPES.place
  let flags = FORMER_KEYED | FORMER_TELL_SELF_TRADE | (terms.clientOrderId.length << 24)
  for (const [flag, bit] of FORMER_FLAGS) if ((terms.flags & flag) !== 0) flags |= bit
  for (const [option, bit] of FORMER_OPTIONS) if ((terms.options & option) !== 0) flags |= bit
  if ((terms.flags & Flag.CANCEL_BOTH) !== 0) flags |= FORMER_STP_GIVEN
  former.i32[at.pair] = terms.pair
  former.u32[at.flags] = flags >>> 0
  former.i32[at.price] = terms.price
  former.i32[at.lots] = terms.lots
  former.i32[at.slippageBps] = terms.slippageBps
  former.i32[at.targetSlot] = terms.targetSlot
  former.f64[at.expiresAt >>> 1] = terms.expiresAt
  former.f64[at.targetSequence >>> 1] = terms.targetSequence
  formerBytes.write(terms.clientOrderId, at.label * 4, 'latin1')
  return hash('sha256', formerBytes, HASH_TEXT)
}

/** The hash that a TRANSFER with these terms had; its record was one of the second layout, whose words stand as in the first. */
export function formerTransfer({ subAccount, asset, toSub, amount }: TransferTerms): string {
  const { at } = FIRST_TRANSFER
  former.i32.fill(0)
  former.u32[at.kind] = FORMER_TYPES.transfer
  former.i32[at.asset] = asset
  former.u32[at.flags] = FORMER_KEYED
  former.i32[at.subAccount] = subAccount
  former.i32[at.toSub] = toSub ? 1 : 0
  former.i64[at.amount >>> 1] = amount
  return hash('sha256', formerBytes, HASH_TEXT)
}
