/** Meanings that one command alone has a use for: terms of listings, grants of agents, who a sign-in named as its master. */
import { AGENT_MARGIN_ACCOUNTS_MAX, AGENT_PAIRS_MAX, slotsOfKind } from '../layout/command.ts'
import { marginAccountId, parentMarginId } from '../layout/ids.ts'
import { formatDecimal } from '../lib/decimal.ts'
import type { Meaning } from './meanings.ts'

/** Most digits behind the point; what was refused may have asked for any number. */
const SCALE_MAX = 18
const scaled = (units: bigint, scale: number): string | null => scale >= 0 && scale <= SCALE_MAX ? formatDecimal(units, scale) : null

/** A whole number of units of 10^-scale, or of lots of so many such units: what the fields of the same record say. */
export const lotsOf = (name: string, scaleField: string, unitsField?: string): Meaning => (field, layout) => {
  const [word, scale] = [layout.at[field]!, layout.at[scaleField]!]
  const units = unitsField === undefined ? -1 : layout.at[unitsField]!
  const cell: ReturnType<Meaning>[number]['cell'] = ({ views: { i32 }, at }) =>
    scaled(BigInt(i32[at + word]!) * (units < 0 ? 1n : BigInt(i32[at + units]!)), i32[at + scale]!)
  return [{ name, type: 'decimal', cell }]
}

/** Least value of an order, atoms of the quote asset: the one that field `quote` names, or that of the pair that `pair` does. */
export const notional = (ofField: 'quote' | 'pair'): Meaning => (field, layout) => {
  const [word, of] = [layout.at[field]!, layout.at[ofField]!]
  return [{
    name: 'minNotional',
    type: 'decimal',
    cell: ({ views, at, names }) => {
      const index = views.i32[at + of]!
      const quote = names.asset(ofField === 'quote' ? index : names.pair(index)?.quote ?? -1)
      return quote === undefined ? null : formatDecimal(views.i64[(at + word) >>> 1]!, quote.scale)
    },
  }]
}

/** Atoms of the asset that the same record lists. */
export const faucetAmount: Meaning = (field, layout) => {
  const [word, scale] = [layout.at[field]!, layout.at['scale']!]
  const cell: ReturnType<Meaning>[number]['cell'] = ({ views, at }) =>
    scaled(views.i64[(at + word) >>> 1]!, views.i32[at + scale]!)
  return [{ name: 'faucetAmount', type: 'decimal', cell }]
}

/** Row + 1 of the account that a sign-in named as its master; 0: none. */
export const masterRow: Meaning = (field, layout) => {
  const word = layout.at[field]!
  return [{ name: 'masterUserId', type: 'text', cell: ({ views, at, names }) => names.user(views.i32[at + word]! - 1) }]
}

/** Symbols of the pairs that an agent may trade, joined by |; `null`: none. */
export const agentPairs: Meaning = (field, layout) => {
  const from = layout.at[field]! * 4
  return [{
    name: 'allowedPairs',
    type: 'text',
    cell: ({ views, at, names }) => {
      const granted: string[] = []
      for (let pair = 0; pair < AGENT_PAIRS_MAX; pair++) {
        const isGranted = (views.bytes[at * 4 + from + (pair >>> 3)]! & (1 << (pair & 7))) !== 0
        if (isGranted) granted.push(names.pair(pair)?.symbol ?? `#${pair}`)
      }
      return granted.join('|') || null
    },
  }]
}

/** Ids of the margin accounts that an agent may use, joined by |; `null`: none is named. */
export const agentMarginAccounts: Meaning = (field, layout) => {
  const [sequences, rows] = [layout.at[field]!, layout.at['marginRows']!]
  return [{
    name: 'allowedMarginAccountIds',
    type: 'text',
    cell: ({ views: { f64, i32, u32 }, at }) => {
      if (slotsOfKind(u32[at]!) < 2) return null
      const granted: string[] = []
      for (let each = 0; each < AGENT_MARGIN_ACCOUNTS_MAX; each++) {
        const [sequence, row] = [f64[((at + sequences) >>> 1) + each]!, i32[at + rows + each]!]
        if (sequence !== 0) granted.push(row < 0 ? parentMarginId(sequence, -1 - row) : marginAccountId(sequence, row))
      }
      return granted.join('|') || null
    },
  }]
}
