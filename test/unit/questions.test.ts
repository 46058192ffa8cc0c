/**
 * Promise: what a thread asks the matcher is answered whole, of one state, and as what was asked, or not at all: whatever either side does
 * wrong, and whenever it dies. Who asks is told in time, who asks much keeps nobody waiting, and who trades pays a twentieth at most.
 */
import t, { type Test } from 'tap'
import { CommandType, kindOf, OPEN_SESSION_COMMAND, ORDER_COMMAND } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { lastSequence } from '../../core/journal/reader.ts'
import { GATEWAY, STOP } from '../../core/ring/counters.ts'
import {
  AnswerCode, Ask, attachQuestions, beginAnswer, createQuestions, isAnswered, isAsked, LEVELS_MAX, LEVELS_QUESTION, publishAnswer,
  putQuestion, QUESTION_WORDS, takeAnswer, takeQuestion, type Cell,
} from '../../core/ring/questions.ts'
import { WAIT } from '../../core/ring/wait.ts'
import { runSequencer } from '../../core/sequencer/loop.ts'
import { anyQuestion, RESTS } from '../../core/sequencer/questions.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { BALANCE, LEVEL_WORDS, SESSION } from '../../core/state/columns.ts'
import { balanceRow, setI64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { readDepth, type Depth } from '../../core/view/book.ts'
import { QUESTIONS_MAX } from '../../gateway/bridge/books.ts'
import { Refused } from '../../gateway/refused.ts'
import { AskedStage, turnOfLoop, type StageOptions } from '../support/asked.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { startMatcher } from '../support/journal.ts'
import { createBench, type Bench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const START = 1_700_000_000_000
/** Of a cell, in words (core/ring/questions.ts draws it). */
const [ASKED, BEGUN] = [16, 32]
const quiet = new Int32Array(16)
const levels = (pair: number, bids = 10, asks = 10): number[] => [Ask.LEVELS, pair, 0, 0, bids, asks]

/** Answers what waits as a matcher would, with `spoil` in the middle of it. */
function answerTo(cell: Cell, spoil: (asked: Int32Array) => void = () => undefined): number {
  const asked = new Int32Array(QUESTION_WORDS)
  const number = takeQuestion(cell, asked)
  if (number === -1) return -1
  spoil(asked)
  beginAnswer(cell, number, asked)
  publishAnswer(cell, number, AnswerCode.GOOD)
  return number
}

t.test('a question and its answer', async (t) => {
  const cell = attachQuestions(createQuestions())
  t.notOk(isAsked(cell), 'nothing is asked at first')
  for (let times = 0; times < 3; times++) {
    const number = putQuestion(cell, levels(times))
    t.ok(isAsked(cell))
    t.notOk(isAnswered(cell, number))
    t.equal(answerTo(cell), number)
    t.notOk(isAsked(cell))
    t.ok(isAnswered(cell, number))
    t.equal(takeAnswer(cell, number, levels(times), () => 'copied'), 'copied')
  }
})

t.test('faults of one side', async (t) => {
  t.test('an asker that dies while it writes is not heard', async (t) => {
    const cell = attachQuestions(createQuestions())
    Atomics.add(cell.words, ASKED, 1)
    cell.question[1] = 7
    t.notOk(isAsked(cell), 'nobody looks at it again and again')
    t.equal(answerTo(cell), -1)
  })
  t.test('one that dies behind its question is answered once', async (t) => {
    const cell = attachQuestions(createQuestions())
    putQuestion(cell, levels(0))
    t.not(answerTo(cell), -1)
    t.equal(answerTo(cell), -1)
    t.notOk(isAsked(cell))
  })
  t.test('a question overwritten while it is copied is not taken', async (t) => {
    const cell = attachQuestions(createQuestions())
    putQuestion(cell, levels(1))
    let [reads, second] = [0, 0]
    const question = new Proxy(cell.question, { get: (words, at) => {
      if (reads++ === 2) second = putQuestion(cell, levels(2))
      return Reflect.get(words, at, words) as unknown
    } })
    const asked = new Int32Array(QUESTION_WORDS)
    t.equal(takeQuestion({ ...cell, question }, asked), -1)
    t.equal(takeQuestion(cell, asked), second)
    t.same([...asked], [...levels(2), ...new Array<number>(QUESTION_WORDS - levels(2).length).fill(0)])
  })
  t.test('an answer that is written over while it is copied is none', async (t) => {
    const cell = attachQuestions(createQuestions())
    const number = putQuestion(cell, levels(0))
    answerTo(cell)
    t.equal(takeAnswer(cell, number, levels(0), () => Atomics.exchange(cell.words, BEGUN, number + 2)), null)
  })
  t.test('an answer to something else is none', async (t) => {
    const cell = attachQuestions(createQuestions())
    for (let word = 0; word < QUESTION_WORDS; word++) {
      const number = putQuestion(cell, levels(0))
      answerTo(cell, (asked) => asked[word]!++)
      t.equal(takeAnswer(cell, number, levels(0), () => 'copied'), null, `word ${word}`)
    }
  })
  t.test('numbers go round', async (t) => {
    const cell = attachQuestions(createQuestions())
    cell.words[ASKED] = 2 ** 31 - 4
    const numbers = []
    for (let pair = 0; pair < 4; pair++) {
      const before = numbers.at(-1)
      const number = putQuestion(cell, levels(pair))
      numbers.push(number)
      t.notOk(isAnswered(cell, number), 'not by the answer before it')
      t.equal(answerTo(cell), number)
      if (before !== undefined) t.equal(takeAnswer(cell, before, levels(pair - 1), () => 'copied'), null, 'nor is that an answer any more')
      t.equal(takeAnswer(cell, number, levels(pair), () => 'copied'), 'copied')
    }
    t.same(numbers, [2 ** 31 - 2, -(2 ** 31), -(2 ** 31) + 2, -(2 ** 31) + 4])
  })
})

/** Books of this many levels a side, of which every change is one event. */
class Market {
  readonly bench: Bench
  readonly state: State
  readonly stage: AskedStage
  #n = 0

  constructor(depth: number, options: StageOptions = {}) {
    const limits = { orders: 16 * Math.max(64, depth), openOrdersPerAccount: 4 * depth + 64 }
    this.bench = createBench(genesisText({ ...VARIANTS['market']!, limits }))
    this.state = this.bench.state
    this.stage = new AskedStage(this.state, options)
    const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
    const values = { kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, application: 0, address: '11'.repeat(20) }
    encode(OPEN_SESSION_COMMAND, record, 0, { ...values, publicKey: '22'.repeat(32) })
    this.bench.run(record, 0, START)
    keepAccount(this.state, 0)
    for (const { index } of this.state.genesis.assets) setI64(this.state, balanceRow(this.state, 0, index), BALANCE.AVAILABLE, 10n ** 17n)
    for (let n = 1; n <= depth; n++) this.place(10_000 + n)
  }

  /** A bid at this tick. */
  place(price: number): void {
    const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
    const kind = kindOf(CommandType.PLACE_ORDER, 1, 1)
    const by = { session: 0, sessionGeneration: this.state.sessions[SESSION.GENERATION]! }
    encode(ORDER_COMMAND, record, 0, { kind, ...by, pair: 0, flags: 0, price, lots: 1000 + this.#n++ })
    const records = this.bench.run(record, 0, START)
    this.stage.publish(this.bench.said, records)
  }

  ask(depth: number, group: number, client = 'somebody', pair = 0): { book: Depth | Refused | null } {
    const told: { book: Depth | Refused | null } = { book: null }
    this.stage.books.ask(pair, depth, group, client, (book) => (told.book = book))
    return told
  }

  /** Lets both sides work until `done`. */
  async until(done: () => boolean, between: () => void = () => undefined): Promise<void> {
    for (let turn = 0; turn < 5000 && !done(); turn++) {
      between()
      this.stage.answer()
      await turnOfLoop()
    }
  }

  /** The same by the clock, without answers: for what is given up. */
  async given(up: () => boolean): Promise<void> {
    for (let turn = 0; turn < 1000 && !up(); turn++) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function codeOf({ book }: { book: Depth | Refused | null }): string {
  if (book === null) return 'none'
  return book instanceof Refused ? book.code : 'book'
}

t.test('what is not a question has no answer, and the next one has', async (t) => {
  const market = new Market(3)
  const { stage } = market
  const cell = attachQuestions(stage.cells[0]!)
  const most = market.state.genesis.limits.priceTicks
  const bad = [
    levels(-1), levels(market.state.genesis.pairs.length), levels(0, LEVELS_MAX + 1), levels(0, 1, LEVELS_MAX + 1), levels(0, -1),
    levels(0, 1, -1), [Ask.LEVELS, 0, most, 0, 1, 1], [Ask.LEVELS, 0, 0, most, 1, 1], [Ask.LEVELS, 0, -1, 0, 1, 1], [0, 0], [99, 0],
    [Ask.FILL_PATH, 0, -1, 0, 1, 1], [Ask.FILL_PATH, 0, market.state.genesis.limits.accounts, 0, 1, 1],
  ]
  for (const question of bad) {
    const number = putQuestion(cell, question)
    t.ok(stage.answer())
    t.equal(takeAnswer(cell, number, question, () => 'copied'), null, JSON.stringify(question))
  }
  const told = market.ask(10, 1)
  await market.until(() => told.book !== null)
  t.match(told.book, { bids: [{ price: 10_003 }, { price: 10_002 }, { price: 10_001 }], asks: [], cut: false })
  stage.asker.close()
})

t.test('the asker', async (t) => {
  t.test('wakes a matcher that sleeps, once for each question, and sleeps itself while there is no answer', async (t) => {
    const market = new Market(3)
    const { stage } = market
    const { wait } = attachQuestions(stage.cells[0]!)
    const told = market.ask(10, 1)
    t.equal(stage.matcherWait[WAIT.WAKE], 0, 'one that works is not disturbed')
    Atomics.store(stage.matcherWait, WAIT.SLEEPING, 1)
    const other = market.ask(10, 1, 'somebody', 1)
    t.equal(stage.matcherWait[WAIT.WAKE], 0, 'what is not asked yet wakes nobody')
    for (let look = 0; look < 2000 && Atomics.load(wait, WAIT.SLEEPING) === 0; look++) await turnOfLoop()
    t.equal(Atomics.load(wait, WAIT.SLEEPING), 1)
    await market.until(() => told.book !== null && other.book !== null)
    t.same([told, other].map(codeOf), ['book', 'book'])
    t.equal(stage.matcherWait[WAIT.WAKE], 1)
    stage.asker.close()
  })

  t.test('an answer that is none refuses whoever waits for it, is said, and others are answered', async (t) => {
    const market = new Market(3)
    const told = market.ask(10, 1)
    answerTo(attachQuestions(market.stage.cells[0]!), (asked) => asked[LEVELS_QUESTION.PAIR]!++)
    for (let turn = 0; turn < 100 && told.book === null; turn++) await turnOfLoop()
    t.equal(codeOf(told), 'ENGINE_UNAVAILABLE')
    t.match(market.stage.errors, [/no answer to the question/])
    const next = market.ask(10, 1)
    await market.until(() => next.book !== null)
    t.equal(codeOf(next), 'book')
    market.stage.asker.close()
  })

  t.test('a matcher that does not answer: refused in time, nothing is written over, places are given back', async (t) => {
    const market = new Market(3, { waitMs: 20 })
    const cell = attachQuestions(market.stage.cells[0]!)
    const first = market.ask(10, 1)
    const question = [...cell.question]
    await market.given(() => first.book !== null)
    t.equal(codeOf(first), 'ENGINE_UNAVAILABLE')
    const second = market.ask(20, 10, 'another', 1)
    await market.given(() => second.book !== null)
    t.equal(codeOf(second), 'ENGINE_UNAVAILABLE')
    t.same([...cell.question], question, 'the first question stands as it was put')
    t.equal(market.stage.counters[GATEWAY.questions_waiting], 0)
    t.equal(market.stage.counters[GATEWAY.questions_refused], 2)
    // The time is short for this question too: a pause of this process may refuse it.
    let third = market.ask(3, 1)
    for (let asked = 0; asked < 200; asked++) {
      await market.until(() => third.book !== null)
      if (codeOf(third) !== 'ENGINE_UNAVAILABLE') break
      third = market.ask(3, 1)
    }
    t.equal(codeOf(third), 'book', 'and once it answers again all is well')
    market.stage.asker.close()
  })

  t.test('equal questions are one, a client leaves room for others, and a full house says so', async (t) => {
    const market = new Market(3)
    const { counters } = market.stage
    const same = Array.from({ length: 1000 }, () => market.ask(10, 1))
    t.equal(counters[GATEWAY.questions_waiting], 1)
    const greedy = Array.from({ length: 1000 }, (_, n) => market.ask(11 + n, 1, 'greedy'))
    const taken = counters[GATEWAY.questions_waiting]!
    t.ok(taken <= 1 + QUESTIONS_MAX / 2, `${taken} of ${QUESTIONS_MAX}`)
    const others = Array.from({ length: 200 }, (_, n) => market.ask(2000 + n, 1, `client ${n}`))
    t.equal(codeOf(others[0]!), 'none', 'it waits')
    t.ok(counters[GATEWAY.questions_waiting]! <= QUESTIONS_MAX)
    await market.until(() => [...same, ...greedy, ...others].every(({ book }) => book !== null))
    t.same(new Set(same.map(codeOf)), new Set(['book']))
    t.equal(greedy.filter((each) => codeOf(each) === 'ENGINE_UNAVAILABLE').length, 1000 - (taken - 1))
    t.ok(market.stage.answers <= 4, `${market.stage.answers} answers for all of them`)
    t.equal(counters[GATEWAY.questions_waiting], 0)
    market.stage.asker.close()
  })

  t.test('events that are gone before they were read: the walk begins anew, and is right', async (t) => {
    const market = new Market(40, { levels: 5, ring: 64 })
    const told = market.ask(Infinity, 10)
    let spoilt = 0
    await market.until(() => told.book !== null, () => {
      if (market.stage.answers >= 3 && spoilt++ === 0) for (let n = 0; n < 100; n++) market.place(10_000 + (n % 50))
    })
    t.equal(market.stage.counters[GATEWAY.lapped], 1)
    t.same(told.book, readDepth(market.state, quiet, 0, 100_000, 10))
    market.stage.asker.close()
  })

  t.test('a thread that stops refuses who waits', async (t) => {
    const market = new Market(3)
    const told = [market.ask(10, 1), market.ask(20, 1)]
    market.stage.asker.close()
    t.same(told.map(codeOf), ['ENGINE_UNAVAILABLE', 'ENGINE_UNAVAILABLE'])
  })
})

t.test('the matcher', async (t) => {
  t.test('one answer a turn, lanes in turn', async (t) => {
    const { stage } = new Market(3, { lanes: 3 })
    const cells = stage.cells.map(attachQuestions)
    const order: number[] = []
    const numbers = cells.map((cell) => putQuestion(cell, levels(0)))
    // Lane 0 asks again as soon as it is answered.
    for (let turn = 0; turn < 5; turn++) {
      t.ok(stage.answer())
      const lane = cells.findIndex((cell, index) => numbers[index] !== 0 && isAnswered(cell, numbers[index]!))
      order.push(lane)
      numbers[lane] = lane === 0 ? putQuestion(cells[0]!, levels(0)) : 0
    }
    t.same(order, [0, 1, 2, 0, 0])
    stage.asker.close()
  })

  t.test('wakes the one who sleeps for it, and nobody else', async (t) => {
    const { stage } = new Market(3, { lanes: 2 })
    const cells = stage.cells.map(attachQuestions)
    putQuestion(cells[1]!, levels(0))
    stage.answer()
    t.equal(cells[1]!.wait[WAIT.WAKE], 0, 'who looks is not woken')
    cells.forEach(({ wait }) => Atomics.store(wait, WAIT.SLEEPING, 1))
    putQuestion(cells[1]!, levels(0))
    stage.answer()
    t.same(cells.map(({ wait }) => wait[WAIT.WAKE]), [0, 1])
    t.notOk(stage.answer(), 'and no more')
    stage.asker.close()
  })

  t.test('does not sleep while somebody asks, journals nothing of it, and changes nothing', async (t) => {
    const dataDir = temporaryDirectory()
    t.teardown(() => removeDirectory(dataDir))
    const { sequencer, gateways, database } = startMatcher(dataDir, { lanes: 3 })
    const [digest, end] = [stateDigest(sequencer.state), lastSequence(database)]
    const numbers = gateways.map(({ questions }) => putQuestion(questions, levels(0)))
    const sleep = Atomics.wait
    let answered: boolean[] | null = null
    // The first time that it sleeps it is told to end.
    Atomics.wait = (() => {
      answered ??= gateways.map(({ questions }, lane) => isAnswered(questions, numbers[lane]!))
      Atomics.store(sequencer.gate, STOP, 1)
      return 'timed-out'
    }) as typeof Atomics.wait
    try {
      runSequencer({ ...sequencer, spin: 1 })
    } finally {
      Atomics.wait = sleep
    }
    t.same(answered, [true, true, true])
    t.same([stateDigest(sequencer.state), lastSequence(database)], [digest, end])
  })

  busyTest(t)
  boundTest(t)
})

function busyTest(t: Test): void {
  void t.test('while it is busy a twentieth of its time, and never nothing; while it is not, at once', async (t) => {
    const { stage } = new Market(3, { lanes: 2 })
    const cells = stage.cells.map(attachQuestions)
    stage.tick = 40e-6
    const [began, turns] = [stage.seconds, 20_000]
    let answered = 0
    for (let turn = 0; turn < turns; turn++) {
      for (const cell of cells) if (!isAsked(cell)) putQuestion(cell, levels(0))
      stage.seconds += 60e-6
      if (stage.answer(0, true)) answered++
    }
    const part = stage.spent / (stage.seconds - began)
    t.ok(part <= 1 / (RESTS + 1) && part > 0.02, `${(part * 100).toFixed(1)} % in ${answered} answers`)
    // One that was interrupted while it answered is not punished for it.
    for (const cell of cells) if (!isAsked(cell)) putQuestion(cell, levels(0))
    stage.tick = 1
    t.ok(stage.answer(0, false))
    stage.tick = 0
    stage.seconds += 0.1
    t.ok(stage.answer(0, true), 'a second away from its processor is no reason to rest for nineteen')
    for (let turn = 0; turn < 10; turn++) {
      putQuestion(cells[0]!, levels(0))
      t.ok(stage.answer(0, false))
    }
    t.notOk(anyQuestion(stage.questions))
    stage.asker.close()
  })
}

function boundTest(t: Test): void {
  void t.test('an answer looks at a bounded number of levels, and changes nothing', async (t) => {
    const market = new Market(3000)
    const { state } = market
    const digest = stateDigest(state)
    const looked = new Set<number>()
    const { levelsAt } = state
    const last = levelsAt + state.genesis.limits.orders * LEVEL_WORDS
    const i32 = new Proxy(state.i32, { get: (words, at) => {
      const word = Number(at)
      if (word >= levelsAt && word < last) looked.add(Math.floor((word - levelsAt) / LEVEL_WORDS))
      const value: unknown = Reflect.get(words, at, words)
      return typeof value === 'function' ? value.bind(words) : value
    } })
    const stage = new AskedStage({ ...state, i32 })
    const cell = attachQuestions(stage.cells[0]!)
    let [below, seen] = [0, 0]
    for (const expected of [LEVELS_MAX, LEVELS_MAX, LEVELS_MAX, 0]) {
      looked.clear()
      const number = putQuestion(cell, [Ask.LEVELS, 0, below, 0, LEVELS_MAX, LEVELS_MAX])
      t.ok(stage.answer())
      t.equal(looked.size, expected)
      takeAnswer(cell, number, [Ask.LEVELS, 0, below, 0, LEVELS_MAX, LEVELS_MAX], () => {
        seen += cell.figures[2]!
        below = cell.i32[(cell.figures[2]! - 1) * 4]!
      })
    }
    t.equal(seen, 3000)
    t.equal(stateDigest(state), digest)
    stage.asker.close()
    market.stage.asker.close()
  })
}
