/**
 * Promise: a book that listeners wait for while the matcher is asked begins as of the answer and goes on with every change behind it, once;
 * when there is no answer they are told so once, and have it when there is one.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { EventType, outcomeOf, Reason, RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { APPLYING } from '../../core/ring/counters.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import type { Depth } from '../../core/view/book.ts'
import type { BookDone } from '../../gateway/bridge/books.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Refused } from '../../gateway/refused.ts'
import type { Subscriber } from '../../gateway/ws/channels/channel.ts'
import { ORDERBOOK } from '../../gateway/ws/channels/orderbook.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import type { Frame } from '../support/sockets.ts'

const genesis = parseGenesis(testGenesis())
const pairs = new Map(genesis.pairs.map((pair) => [pair.id, pair]))
const { id } = genesis.pairs[0]!
const params = { tradingPairId: id, magnitude: 1 }

class Stage {
  readonly asked: BookDone[] = []
  readonly heard: Frame[] = []
  time = 1_000_000
  readonly #views = viewsOf(new ArrayBuffer(RECORD_BYTES))
  readonly channel
  readonly listener: Subscriber = { account: -1, push: (frame) => this.heard.push(JSON.parse(String(frame)) as Frame) }

  constructor() {
    // As if a batch were being applied for ever.
    const gate = new Int32Array(new SharedArrayBuffer(64))
    gate[APPLYING] = 1
    const books = { ask: (...[, , , , done]: unknown[]) => this.asked.push(done as BookDone) }
    const clocks = { now: () => this.time, time: () => this.time }
    this.channel = ORDERBOOK.create({ genesis, state: createState(genesis), gate, pairs, books, ...clocks } as unknown as Gateway)
  }

  /** A bid at the tick of its sequence. */
  place(sequence: number): void {
    encode(RESULT, this.#views, 0, {
      kind: EventType.RESULT | (CommandType.PLACE_ORDER << 8), sequence, time: 1, orderSequence: sequence, account: 0, pair: 0,
      price: 100 + sequence, lots: 5, remaining: 5, outcome: outcomeOf(Status.SUBMITTED, Reason.NONE),
    })
    this.channel.take(this.#views, 0)
  }

  flush(): string[] {
    this.channel.flush(1000)
    return this.heard.splice(0).map(({ type, code, sequence, data }) =>
      type === 'error' ? code : `${type} ${data.previousSequence ?? ''}>${sequence}: ${data.bids.map(({ price }: Frame) => price)}`)
  }
}

/** The book with the bids of these sequences, as of the last. */
function depthOf(...sequences: number[]): Depth {
  const bids = sequences.map((sequence) => ({ price: 100 + sequence, lots: 5, orders: 1 })).reverse()
  return { bids, asks: [], bestBid: null, bestAsk: null, sequence: sequences.at(-1)!, cut: false }
}

t.test('what happens until the answer is in it, or follows it', async (t) => {
  const stage = new Stage()
  t.ok(stage.channel.subscribe(stage.listener, params), 'the snapshot follows')
  t.ok(stage.channel.subscribe(stage.listener, params), 'for others too')
  t.equal(stage.asked.length, 1)
  for (const sequence of [4, 5, 6, 7]) stage.place(sequence)
  t.same(stage.flush(), [])
  stage.asked[0]!(depthOf(3, 4, 5))
  t.same(stage.heard, [], 'only between two commands')
  for (const sequence of [8, 9]) stage.place(sequence)
  t.same(stage.flush(), ['snapshot >5: 1.05,1.04,1.03'])
  t.same(stage.flush(), ['orderbook_update 5>9: 1.09,1.08,1.07,1.06'])
  stage.place(10)
  t.same(stage.flush(), ['orderbook_update 9>10: 1.1'])
  t.equal(stage.asked.length, 1)
})

t.test('an answer ahead of what was heard', async (t) => {
  const stage = new Stage()
  stage.channel.subscribe(stage.listener, params)
  stage.place(4)
  stage.asked[0]!(depthOf(3, 4, 5, 6))
  // The thread hears of them later.
  for (const sequence of [5, 6, 7]) stage.place(sequence)
  t.same(stage.flush(), ['snapshot >6: 1.06,1.05,1.04,1.03'])
  t.same(stage.flush(), ['orderbook_update 6>7: 1.07'])
})

t.test('no answer: told once, asked again, and then it is there', async (t) => {
  const stage = new Stage()
  stage.channel.subscribe(stage.listener, params)
  for (let tries = 1; tries <= 3; tries++) {
    t.equal(stage.asked.length, tries)
    stage.asked.at(-1)!(new Refused('ENGINE_UNAVAILABLE'))
    t.same(stage.flush(), tries === 1 ? ['SNAPSHOT_UNAVAILABLE'] : [])
    t.same(stage.flush(), [])
    t.equal(stage.asked.length, tries, 'not at once')
    stage.time += 1000
    t.same(stage.flush(), [])
  }
  stage.asked.at(-1)!(depthOf(3))
  t.same(stage.flush(), ['snapshot >3: 1.03'])
})

t.test('more changes than are kept: the answer would not be continued, so it is asked again', async (t) => {
  const stage = new Stage()
  stage.channel.subscribe(stage.listener, params)
  for (let n = 0; n <= 100_000; n++) stage.place(10)
  stage.asked[0]!(depthOf(3))
  t.same(stage.flush(), ['SNAPSHOT_UNAVAILABLE'])
  stage.time += 1000
  stage.flush()
  stage.asked[1]!(depthOf(3, 11))
  t.same(stage.flush(), ['snapshot >11: 1.11,1.03'])
})

t.test('who left hears nothing', async (t) => {
  const stage = new Stage()
  stage.channel.subscribe(stage.listener, params)
  stage.channel.unsubscribe(stage.listener, params)
  stage.asked[0]!(depthOf(3))
  t.same(stage.flush(), [])
})
