/**
 * Promise: when many listen, books take turns: a turn tells those that have waited longest until it has told enough listeners, says how
 * long the others wait, and no change is lost, repeated or out of its chain for it.
 */
import t from 'tap'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { CommandType } from '../../core/layout/command.ts'
import { EventType, outcomeOf, Reason, RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Subscriber } from '../../gateway/ws/channels/channel.ts'
import { ORDERBOOK } from '../../gateway/ws/channels/orderbook.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import type { Frame } from '../support/sockets.ts'

const genesis = parseGenesis(testGenesis())
const pairs = new Map(genesis.pairs.map((pair) => [pair.id, pair]))

function stage(listeners: number) {
  const state = createState(genesis)
  const gateway = { genesis, state, gate: new Int32Array(16), pairs, now: () => 0, time: () => 0 } as unknown as Gateway
  const channel = ORDERBOOK.create(gateway)
  /** What the first listener of each pair got. */
  const heard: Frame[][] = genesis.pairs.map(() => [])
  let frames = 0
  for (const { id, index } of genesis.pairs) {
    for (let i = 0; i < listeners; i++) {
      const push: Subscriber['push'] = (frame) => {
        frames++
        if (i === 0) heard[index]!.push(JSON.parse(String(frame)) as Frame)
      }
      channel.subscribe({ account: -1, push }, { tradingPairId: id, magnitude: 1 })
    }
  }
  const place = (sequence: number, time: number, pair: number): void => {
    const views = viewsOf(new ArrayBuffer(RECORD_BYTES))
    encode(RESULT, views, 0, {
      kind: EventType.RESULT | (CommandType.PLACE_ORDER << 8), sequence, time, orderSequence: sequence, account: 0, pair,
      price: 100 + sequence, lots: 5, remaining: 5, outcome: outcomeOf(Status.SUBMITTED, Reason.NONE),
    })
    channel.take(views, 0)
  }
  /** Frames that one turn pushed, and the time of the oldest change it left. */
  const turn = (most: number): [pushed: number, left: number] => {
    const before = frames
    const left = channel.flush(most) ?? 0
    return [frames - before, left]
  }
  return { heard, place, turn }
}

t.test('the longest waiting are told first, whole topics at a time', async (t) => {
  const { heard, place, turn } = stage(3)
  place(1, 1000, 1)
  place(2, 1001, 0)
  place(3, 1002, 1)
  t.strictSame(turn(1), [3, 1001], 'the first book to all three, the other waits since its change')
  t.strictSame(heard[1]!.at(-1)!.data.bids.length + heard[1]!.at(-1)!.data.asks.length, 2, 'with everything so far')
  place(4, 1003, 1)
  t.strictSame(turn(1), [3, 1003], 'then the other, though the first has changed again')
  t.strictSame(turn(1), [3, 0])
  t.strictSame(turn(1), [0, 0], 'nothing is told twice')
})

t.test('frames go on from each other whatever the turns', async (t) => {
  const { heard, place, turn } = stage(2)
  for (let sequence = 1; sequence <= 60; sequence++) {
    place(sequence, 1000 + sequence, sequence % genesis.pairs.length)
    if (sequence % 3 === 0) turn(1)
  }
  t.strictSame(turn(Infinity)[1], 0)
  for (const [index, frames] of heard.entries()) {
    frames.forEach(({ data }, i) => {
      if (i > 0) t.equal(data.previousSequence, frames[i - 1]!.sequence)
    })
    const levels = frames.slice(1).reduce((sum, { data }) => sum + data.bids.length + data.asks.length, 0)
    t.equal(levels, Array.from({ length: 60 }, (_, i) => i + 1).filter((sequence) => sequence % genesis.pairs.length === index).length)
  }
})
