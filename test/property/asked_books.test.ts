/**
 * Promise: a book that is asked of the matcher, in however many questions and whatever happens between them, is the book as it was at the
 * sequence it names: every level, lots and orders, in every grouping and depth; it is never older than its question; and what is asked of a
 * fill path is what an order would meet.
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { PAIR, PAIR_WORDS } from '../../core/state/columns.ts'
import { pairCount } from '../../core/state/rows.ts'
import { COMMAND_SLOTS, Flag } from '../../core/layout/command.ts'
import { readFillPath, type FillPath } from '../../core/view/fill_path.ts'
import { readDepth, type Depth } from '../../core/view/book.ts'
import { Refused } from '../../gateway/refused.ts'
import { AskedStage, turnOfLoop } from '../support/asked.ts'
import { createBench, type Bench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'
import { Workload } from '../support/workload.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const COMMANDS = 6_000
/** In turn: deep books, and pairs that are listed while it trades. */
const STAGES = ['market', 'listing'] as const
const seed = seedOf()
t.comment(`seed ${seed}`)

const same = (a: Depth, b: Depth): boolean => isDeepStrictEqual({ ...a, cut: false }, { ...b, cut: false })
const COMBOS = [1, 3, 10, 1000].flatMap((depth) => [1, 10, 100, 1_000_000].map((group) => [depth, group] as const))
const quiet = new Int32Array(new SharedArrayBuffer(64))

/** An exchange that trades at random, and somebody who asks. */
class Stage {
  readonly #random: Prng
  readonly #bench: Bench
  readonly #workload: Workload
  readonly #asked: AskedStage
  readonly #command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  readonly #batch = viewsOf(new ArrayBuffer(16_384 * RECORD_BYTES))
  /** Books by pair and sequence, since the last time that nobody waited. */
  #history = new Map<string, Map<string, Depth>>()
  readonly wrong: string[] = []
  books = 0
  paths = 0
  open = 0

  constructor(seed: number, variant: (typeof STAGES)[number]) {
    this.#bench = createBench(genesisText(VARIANTS[variant]!))
    this.#random = createPrng(seed)
    this.#workload = new Workload(seed, this.#bench.state.genesis, { listing: variant === 'listing' })
    this.#asked = new AskedStage(this.#bench.state, { levels: 1 + this.#random.below(6) })
  }

  get answers(): number {
    return this.#asked.answers
  }

  #sequenceOf(pair: number): number {
    return this.#bench.state.pairsF64[(pair * PAIR_WORDS + PAIR.SEQUENCE) >>> 1]!
  }

  /** Some commands, and what the books are behind them. */
  batch(): number {
    const { state } = this.#bench
    const commands = 1 + this.#random.below(12)
    let records = 0
    for (let left = commands; left > 0; left--) {
      this.#workload.next(this.#command, 0)
      const made = this.#bench.run(this.#command, 0, this.#workload.time)
      this.#batch.i32.set(this.#bench.said.i32.subarray(0, made * RECORD_WORDS), records * RECORD_WORDS)
      records += made
      this.#workload.learn(this.#bench.said, made)
    }
    this.#asked.publish(this.#batch, records)
    if (this.open === 0) this.#history = new Map()
    for (let index = 0; index < pairCount(state); index++) {
      const key = `${index} ${this.#sequenceOf(index)}`
      if (this.#history.has(key)) continue
      const books = COMBOS.map(([depth, group]) => [`${depth}/${group}`, readDepth(state, quiet, index, depth, group)!] as const)
      this.#history.set(key, new Map(books))
    }
    return commands
  }

  ask(): void {
    const pair = this.#random.below(pairCount(this.#bench.state))
    const [depth, group] = COMBOS[this.#random.below(COMBOS.length)]!
    const since = this.#sequenceOf(pair)
    this.open++
    this.#asked.books.ask(pair, depth, group, `client ${this.#random.below(9)}`, (book) => {
      this.open--
      this.books++
      if (book instanceof Refused) return void this.wrong.push(`refused ${book.code}`)
      const expected = this.#history.get(`${pair} ${book.sequence}`)?.get(`${depth}/${group}`)
      if (expected === undefined) this.wrong.push(`no state of ${pair} had the sequence ${book.sequence}`)
      else if (book.cut || !same(book, expected)) {
        this.wrong.push(`${depth}/${group}: ${JSON.stringify(book)} is not ${JSON.stringify(expected)}`)
      }
      if (book.sequence < since) this.wrong.push(`asked at ${since}, answered as of ${book.sequence}`)
    })
  }

  /** A path has no sequence, so it is answered before anything else happens. */
  async askPath(): Promise<void> {
    const { state } = this.#bench
    const { genesis } = state
    const random = this.#random
    const incoming = {
      account: random.below(8), pair: random.below(pairCount(state)), price: 1 + random.below(genesis.limits.priceTicks - 1),
      flags: [0, Flag.SELL, Flag.MARKET, Flag.SELL | Flag.MARKET][random.below(4)]!, lots: 1 + random.below(100_000),
    }
    const expected = readFillPath(state, quiet, incoming, this.#workload.time)
    let told: FillPath | Refused | null = null
    this.#asked.books.askPath(incoming, (path) => (told = path))
    for (let turn = 0; turn < 100 && told === null; turn++) await this.turn(true)
    if (!isDeepStrictEqual(told, expected)) this.wrong.push(`${JSON.stringify(incoming)} meets other orders`)
    else this.paths += expected!.filled > 0 ? 1 : 0
  }

  async turn(answers: boolean): Promise<void> {
    if (answers) this.#asked.answer(this.#workload.time)
    await turnOfLoop()
  }

  async run(commands: number): Promise<string[]> {
    const random = this.#random
    for (let done = 0; done < commands && this.wrong.length === 0;) {
      done += this.batch()
      if (random.below(3) === 0) this.ask()
      if (random.below(20) === 0) await this.askPath()
      if (random.below(3) > 0) await this.turn(random.below(2) === 0)
    }
    for (let turn = 0; turn < 1000 && this.open > 0; turn++) await this.turn(true)
    this.#asked.asker.close()
    if (this.open > 0) this.wrong.push(`${this.open} questions without an answer`)
    return [...this.wrong, ...this.#asked.errors.map(String)]
  }
}

t.test('books that are asked', async (t) => {
  for (const round of eachRound(t, { short: 6, deep: 300 })) {
    const stage = new Stage(seed + round, STAGES[round % 2]!)
    const wrong = (await stage.run(COMMANDS)).map((text) => text.slice(0, 600))
    t.same(wrong.slice(0, 1), [], `round ${round}: ${stage.books} books and ${stage.paths} paths, ${stage.answers} answers`)
    t.ok(stage.books > 200)
  }
})
