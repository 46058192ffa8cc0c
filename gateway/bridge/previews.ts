/**
 * Previews of orders on perpetuals: the question to the matcher (core/orders/preview.ts) and its answer as numbers. They go through the
 * cell of questions like those of books.ts, are never journaled and change nothing.
 *
 * Bounded: {@link PREVIEWS_MAX} at once in a thread, of which an account may have as many as are left free, and {@link WAIT_MS}. Over these
 * it is ENGINE_UNAVAILABLE.
 */
import {
  Ask, PREVIEW_ANSWER as A, PREVIEW_POSITION as P, PREVIEW_POSITION_WORDS, PREVIEW_QUESTION as Q, PREVIEW_WORDS, type Cell,
} from '../../core/ring/questions.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { MarginAccountKind, STRATEGY_KEY_BYTES } from '../../core/view/margin.ts'
import type { Previewed, PreviewedPosition } from '../../core/view/preview_figures.ts'
import type { Faults } from '../faults.ts'
import { Refused } from '../refused.ts'
import { Shares, type Proxies } from '../limits/shares.ts'
import type { Asker, Task } from './asker.ts'
import type { MarginTerms, OrderTerms } from './terms.ts'

/** Previews that one thread has open, at most. */
export const PREVIEWS_MAX = 64
/** Who waits longer is refused, ms. */
export const WAIT_MS = 5_000

type Done = (said: Previewed | Refused) => void

const sequenceBits = new Float64Array(1)
const sequenceWords = new Int32Array(sequenceBits.buffer)

/** The terms of an order that a question names. */
type AskedTerms = Pick<OrderTerms, 'pair' | 'flags' | 'price' | 'lots' | 'slippageBps'> & {
  readonly margin: Pick<MarginTerms, 'leverage' | 'marginAccount' | 'bucket' | 'namedSequence' | 'keyLow' | 'keyHigh'> | null
}

/** The words of the question what an order of these terms of `account` would come to. */
export function questionOf(account: number, { pair, flags, price, lots, slippageBps, margin }: AskedTerms): readonly number[] {
  const question: number[] = new Array<number>(Q.KEY_HIGH + 1).fill(0)
  sequenceBits[0] = margin!.namedSequence
  question[Q.KIND] = Ask.PREVIEW
  question[Q.PAIR] = pair
  question[Q.ACCOUNT] = account
  question[Q.FLAGS] = flags | 0
  question[Q.PRICE] = price
  question[Q.LOTS] = lots
  question[Q.LEVERAGE] = margin!.leverage
  question[Q.SLIPPAGE_BPS] = slippageBps
  question[Q.MARGIN_ACCOUNT] = margin!.marginAccount
  question[Q.BUCKET] = margin!.bucket
  question[Q.SEQUENCE_LOW] = sequenceWords[0]!
  question[Q.SEQUENCE_HIGH] = sequenceWords[1]!
  question[Q.KEY_LOW] = margin!.keyLow
  question[Q.KEY_HIGH] = margin!.keyHigh
  return question
}

function positionAt({ i32, i64, f64 }: Cell, at: number): PreviewedPosition {
  const half = at >>> 1
  return {
    pair: i32[at + P.PAIR]!, lots: i32[at + P.LOTS]!, leverage: i32[at + P.LEVERAGE]!, reduceLots: i32[at + P.REDUCE_LOTS]!,
    mark: i32[at + P.MARK]!, cost: i64[half + P.COST]!, fundedTo: i64[half + P.FUNDED_TO]!, cumulative: i64[half + P.CUMULATIVE]!,
    bidValue: i64[half + P.BID_VALUE]!, askValue: i64[half + P.ASK_VALUE]!,
    bidLots: f64[half + P.BID_LOTS]!, askLots: f64[half + P.ASK_LOTS]!,
  }
}

const SCOPE_BYTES = 32

/** The strategy key and the scope of the bucket; Cells are shared memory, so the bytes are copied first. */
function bucketOf({ i32, f64 }: Cell): Previewed['bucket'] {
  const key = Buffer.from(i32.slice(A.STRATEGY_KEY, A.STRATEGY_KEY + STRATEGY_KEY_BYTES / 4).buffer)
  const bits = Buffer.from(i32.slice(A.SCOPE, A.SCOPE + SCOPE_BYTES / 4).buffer)
  const scope: number[] = []
  for (let pair = 0; pair < SCOPE_BYTES * 8; pair++) if ((bits[pair >>> 3]! & (1 << (pair & 7))) !== 0) scope.push(pair)
  const end = key.indexOf(0)
  return {
    row: i32[A.BUCKET]!, sequence: f64[A.BUCKET_SEQUENCE]!, scope, strategyKey: key.toString('latin1', 0, end < 0 ? key.length : end),
  }
}

/** The answer in the cell as it stands. */
export function readPreview(cell: Cell): Previewed {
  const { i32, i64, f64 } = cell
  const most = Math.floor((i32.length - PREVIEW_WORDS) / PREVIEW_POSITION_WORDS)
  const count = Math.min(most, Math.max(0, i32[A.POSITIONS]!))
  return {
    code: i32[A.CODE]!, lots: i32[A.LOTS]!, touch: i32[A.TOUCH]!, filled: i32[A.FILLED]!, trades: i32[A.TRADES]!, best: i32[A.BEST]!,
    worst: i32[A.WORST]!, meetsOwn: i32[A.MEETS_OWN] === 1, tooLong: i32[A.TOO_LONG] === 1, unborne: i32[A.UNBORNE] === 1,
    tickLots: i64[A.COST]!, brought: i64[A.BROUGHT]!, uncommitted: i64[A.UNCOMMITTED]!, required: i64[A.REQUIRED]!,
    available: i64[A.AVAILABLE]!,
    bucket: bucketOf(cell),
    margin: { row: i32[A.MARGIN]!, sequence: f64[A.MARGIN_SEQUENCE]!, parent: i32[A.MARGIN_KIND] === MarginAccountKind.PARENT },
    allocated: i64[A.ALLOCATED]!, pending: i64[A.PENDING]!, realized: i64[A.REALIZED]!,
    mark: i32[A.MARK]!, cumulative: i64[A.CUMULATIVE]!,
    positions: Array.from({ length: count }, (_, place) => positionAt(cell, PREVIEW_WORDS + place * PREVIEW_POSITION_WORDS)),
  }
}

/** One preview on its way. */
class PreviewQuestion implements Task<Previewed> {
  readonly #question: readonly number[]
  readonly #until: number
  #done: Done | null

  constructor(question: readonly number[], waitMs: number, done: Done) {
    this.#question = question
    this.#until = performance.now() + waitMs
    this.#done = done
  }

  next(): readonly number[] | null {
    return this.#done === null ? null : this.#question
  }

  copy(cell: Cell): Previewed {
    return readPreview(cell)
  }

  take(said: Previewed): void {
    this.#answer(said)
  }

  fail(): void {
    this.#answer(new Refused('ENGINE_UNAVAILABLE'))
  }

  expire(now: number): void {
    if (this.#until <= now) this.fail()
  }

  #answer(said: Previewed | Refused): void {
    const done = this.#done
    this.#done = null
    done?.(said)
  }
}

export class Previews {
  readonly #asker: Asker
  readonly #counters: Float64Array
  readonly #faults: Faults
  readonly #places: Shares
  readonly #waitMs: number

  constructor(asker: Asker, counters: Float64Array, proxies: Proxies, faults: Faults, waitMs = WAIT_MS) {
    this.#asker = asker
    this.#counters = counters
    this.#faults = faults
    this.#places = new Shares(PREVIEWS_MAX, proxies)
    this.#waitMs = waitMs
  }

  /** What an order of these terms of `account` would come to, later. */
  ask(account: number, terms: OrderTerms, done: Done): void {
    const request = this.#faults.current
    const client = `account ${account}`
    this.#counters[GATEWAY.questions]!++
    const refuse = (refused: Refused): void => {
      this.#counters[GATEWAY.questions_refused]!++
      done(refused)
    }
    if (this.#places.take(client) !== null) return refuse(new Refused('ENGINE_UNAVAILABLE'))
    this.#asker.add(new PreviewQuestion(questionOf(account, terms), this.#waitMs, (said) => {
      this.#places.give(client)
      this.#faults.guard(request ?? { refuse: done }, () => {
        if (said instanceof Refused) refuse(said)
        else done(said)
      })
    }))
  }
}
