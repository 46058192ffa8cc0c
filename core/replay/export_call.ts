/** The options of `export`, and what is wrong with them, in words. */
import { checkUser } from './telling.ts'
import { FORMATS, type ExportCall, type Format } from './export.ts'
import { KINDS, type Kind } from './kinds.ts'

export const EXPORT_HELP = `Export a journal for people: symbols, ids and decimals as on the wire, RFC 3339 times, names of
flags, reasons and refusals. Read-only, also while the exchange runs.

  npm run --silent replay -- export                          a line (NDJSON) for each command, with all its events
  npm run --silent replay -- export --kind fills             rows of one kind, an object a line
  npm run --silent replay -- export --kind fills --format csv > fills.csv
  npm run --silent replay -- export --format parquet --out /tmp/day     every kind, a file each: orders.parquet, fills.parquet, ...
  npm run --silent replay -- export --kinds                  the kinds and their columns
  npm run --silent replay -- export --raw                    the engine's own numbers, one line for each command

  --format ndjson|csv|parquet   default ndjson; CSV of several kinds, and Parquet, need --out
  --kind KIND          only rows of this kind; more of them: --kind orders --kind fills, or --kind orders,fills
  --out DIR            a directory that is empty or not there yet; a file for each kind, its owner's alone
  --from SEQ --to SEQ  only these commands, both included. Begins at the newest snapshot before --from
  --from TIME --to TIME  not before the one, before the other: 2026-11-22T13:00:00Z, or 2026-11-22 for its midnight UTC
  --user ID            only what names this user: the UUID of the wire, or a wallet (0x...), of which all accounts
  --pair SYMBOL        only what names this pair, like BTC/USDC
  --data-dir DIR       the data directory (default: data/var)
  --archive DIR        what "npm run journal -- archive" wrote, of a journal that does not go back to its beginning any more

Reading it:
  duckdb   SELECT pair, sum(quantity), sum(quoteQuantity) FROM '/tmp/day/fills.parquet' GROUP BY pair
           (a very long export goes on in fills.2.parquet: FROM '/tmp/day/fills.*parquet' reads them all)
           read_csv takes decimals for DOUBLE: what must be exact is read from Parquet, or as text with all_varchar = true
  pandas   pandas.read_parquet('/tmp/day/orders.parquet')     decimals are decimal.Decimal, times have their zone
           pandas.read_csv('fills.csv', dtype=str)             exact; numbers that are read as float are not
  sheets   take columns as text: a clientOrderId is what its user chose, and text that begins with = is a formula there

How an order ended stands where it ended: in orders when it never rested, in fills when remainingQuantity became 0, in cancels when a
CANCEL_ORDER was done, otherwise in ended_orders (replaced, expired, mass cancels, self-trade prevention).
Progress and a summary go to standard error.
`

export interface ExportOptions {
  readonly format?: string | undefined
  readonly kind?: readonly string[] | undefined
  readonly out?: string | undefined
  readonly user?: string | undefined
  readonly pair?: string | undefined
  readonly raw?: boolean | undefined
}

type Where = Pick<ExportCall, 'dataDir' | 'archive' | 'from' | 'to' | 'since' | 'until'>

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** A sequence, 1 or more, or a time in Unix ms. Throws RangeError. */
function boundOf(text: string, name: string): { readonly sequence?: number; readonly time?: number } {
  const [sequence, time] = [Number(text), TIME.test(text) ? Date.parse(text) : NaN]
  if (Number.isSafeInteger(sequence) && sequence >= 1) return { sequence }
  if (!Number.isNaN(time)) return { time }
  throw new RangeError(`--${name} ${text}: neither a sequence, 1 or more, nor a time like 2026-11-22T13:00:00Z or 2026-11-22`)
}

/** What `--from` and `--to` say; absent: all but the genesis. */
export function rangeOf(from: string | undefined, to: string | undefined): Pick<ExportCall, 'from' | 'to' | 'since' | 'until'> {
  const [low, high] = [boundOf(from ?? '2', 'from'), boundOf(to ?? String(Number.MAX_SAFE_INTEGER), 'to')]
  return { from: low.sequence ?? 2, to: high.sequence ?? Number.MAX_SAFE_INTEGER, since: low.time, until: high.time }
}

function kindOf(name: string): Kind {
  const kind = KINDS.find((known) => known.name === name)
  if (kind !== undefined) return kind
  throw new RangeError(`--kind ${name}: there is no such kind. Kinds: ${KINDS.map((known) => known.name).join(', ')}`)
}

/** Throws RangeError, in words, for options that do not go together. */
export function exportCall(where: Where, { format = 'ndjson', kind = [], out, user, pair }: ExportOptions): ExportCall {
  if (!(FORMATS as readonly string[]).includes(format)) throw new RangeError(`--format ${format}: one of ${FORMATS.join(', ')}`)
  const named = [...new Set(kind.flatMap((names) => names.split(',')).map(kindOf))]
  const kinds = named.length > 0 ? named : out === undefined && format === 'ndjson' ? [] : KINDS
  if (out === undefined && format === 'parquet') throw new RangeError('--format parquet writes files: name a directory with --out DIR')
  if (out === undefined && kinds.length > 1) {
    throw new RangeError('standard output takes one kind: name it with --kind, or a directory for a file of each kind with --out DIR')
  }
  if (where.from > where.to) throw new RangeError(`--from ${where.from} is after --to ${where.to}`)
  if (where.since !== undefined && where.since >= (where.until ?? Infinity)) throw new RangeError('--from is not before --to')
  if (user !== undefined) checkUser(user)
  return { ...where, format: format as Format, kinds, out, about: { user, pair } }
}

/** `--raw` is what scripts read since the first version: nothing goes with it but a range. */
export function checkRaw({ format = 'ndjson', kind = [], out, user, pair }: ExportOptions): void {
  const other = Object.entries({ kind: kind[0], out, user, pair }).find(([, value]) => value !== undefined)
  if (other !== undefined) throw new RangeError(`--raw prints the engine's own numbers of every command: it does not go with --${other[0]}`)
  if (format !== 'ndjson') throw new RangeError(`--raw is NDJSON: it does not go with --format ${format}`)
}

/** The kinds with their columns and types. */
export function kindsText(): string {
  return KINDS.map(({ name, fields }) => {
    const lines = ['']
    for (const field of fields) {
      const word = `${field.name} (${field.type})`
      const last = lines[lines.length - 1]!
      if (last.length + word.length + 2 > 112) lines.push(word)
      else lines[lines.length - 1] = last === '' ? word : `${last}, ${word}`
    }
    return `${name}\n${lines.map((line) => `    ${line}`).join('\n')}`
  }).join('\n')
}
