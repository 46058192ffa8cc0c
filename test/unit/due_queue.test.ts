/**
 * Promise: the due queue names every resting order whose time is over, each once, by expiry and then by sequence, whatever came and went
 * before; one that is made from the rows names the same; and an order without a time of its own never moves anything in it.
 */
import t from 'tap'
import { CommandType, Flag, kindOf, MINT_COMMAND, OPEN_SESSION_COMMAND, Option, ORDER_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { createTimers, LOOKS_MAX, TIMED_MAX, writeDue } from '../../core/sequencer/timers.ts'
import { DUE_ROWS, ORDER, ORDER_WORDS, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import type { State } from '../../core/state/state.ts'
import { createBench, type Bench } from '../support/naive_compare.ts'
import { copyStored } from '../support/recording.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const START = 1_700_000_000_000
const LIFETIME = 600_000
const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
const batch = viewsOf(new ArrayBuffer(2 * TIMED_MAX * RECORD_BYTES))

interface Resting {
  slot: number
  sequence: number
  expiresAt: number
}

class Stage {
  readonly text = genesisText({
    limits: { orders: 65_536, openOrdersPerAccount: 65_536, orderLifetimeMs: LIFETIME }, dailyLimit: 1, rules: 0,
    assets: [['USD', 6, '1000000'], ['BTC', 8, '1000000']], pairs: [pairSpec('BTC/USD', { minNotional: '0' })],
  })
  bench: Bench = createBench(this.text)
  time = START
  signed: Decoded = {}

  constructor() {
    const wallet = { session: -1, address: 'a'.repeat(40), publicKey: 'a'.repeat(64) }
    const said = this.send(OPEN_SESSION_COMMAND, CommandType.OPEN_SESSION, wallet)
    this.signed = { session: said['detail']!, sessionGeneration: said['detail2']! }
    this.send(MINT_COMMAND, CommandType.MINT, { ...this.signed, asset: -1 })
  }

  get state(): State {
    return this.bench.state
  }

  send(layout: Layout, type: CommandType, values: Decoded): Decoded {
    encode(layout, record, 0, { kind: kindOf(type, 1, 1), ...values })
    const count = this.bench.run(record, 0, this.time)
    return decode(RESULT, this.bench.said, (count - 1) * RECORD_WORDS)
  }

  order(type: CommandType, values: Decoded): Decoded {
    return this.send(ORDER_COMMAND, type, { ...this.signed, ...values })
  }

  /** An order at rest; without `expiresAt` of the lifetime that all have. */
  place(expiresAt?: number, price = 100): Decoded {
    const said = this.order(CommandType.PLACE_ORDER, {
      pair: 0, lots: 10, price, flags: expiresAt === undefined ? 0 : Flag.EXPIRES, expiresAt: expiresAt ?? 0,
    })
    if (said['code'] !== 0) throw new Error(`refused: ${String(said['code'])}`)
    return said
  }

  /** All that rest, by expiry and then by sequence. */
  resting(): Resting[] {
    const { state } = this
    const rows = Array.from({ length: state.scalars[SCALAR.ORDERS_USED]! }, (_, slot) => ({
      slot, sequence: state.ordersF64[(slot * ORDER_WORDS + ORDER.SEQUENCE) >>> 1]!,
      expiresAt: state.ordersF64[(slot * ORDER_WORDS + ORDER.EXPIRES_AT) >>> 1]!,
    }))
    return rows.filter(({ sequence }) => sequence > 0).sort((a, b) => a.expiresAt - b.expiresAt || a.sequence - b.sequence)
  }

  /** The orders that the commands of one turn name. */
  due(most = TIMED_MAX, state = this.state): { slot: number; sequence: number }[] {
    const used = writeDue(createTimers(), state, this.time, batch, 0, most)
    return Array.from({ length: used }, (_, index) => {
      const { targetSlot, targetSequence } = decode(ORDER_COMMAND, batch, index * RECORD_WORDS)
      return { slot: Number(targetSlot), sequence: Number(targetSequence) }
    })
  }

  /** Applies what one turn names. */
  expire(most = TIMED_MAX): { slot: number; sequence: number }[] {
    const named = this.due(most)
    for (const { slot, sequence } of named) {
      const said = this.order(CommandType.EXPIRE_ORDER, { targetSlot: slot, targetSequence: sequence })
      if (said['code'] !== 0) throw new Error(`not due: ${String(said['code'])}`)
    }
    return named
  }
}

const names = (orders: readonly Resting[]): object[] => orders.map(({ slot, sequence }) => ({ slot, sequence }))
const target = ({ slot, sequence }: Resting): Decoded => ({ targetSlot: slot, targetSequence: sequence })

t.test('by expiry, then by sequence, over all places and turns', async (t) => {
  const stage = new Stage()
  const at = START + 1000
  for (let order = 0; order < 100; order++) stage.place(at + 7 * ((order * 37) % 10))
  const expected = names(stage.resting())
  stage.time = at + 1000
  const met = []
  for (let named = stage.expire(7); named.length > 0; named = stage.expire(7)) {
    t.ok(named.length <= 7)
    met.push(...named)
    checkInvariants(stage.state)
  }
  t.same(met, expected)
})

t.test('random orders, replacements, cancels and pauses, and a queue made anew now and then', async (t) => {
  const seed = Number(process.env['SEED'] ?? 11)
  const random = createPrng(seed)
  const stage = new Stage()
  let expired = 0
  for (let step = 0; step < 6000; step++) {
    const dice = random.below(100)
    const resting = stage.resting()
    const one = resting[random.below(resting.length)]
    if (dice < 45 && resting.length < 300) stage.place(random.below(2) === 0 ? undefined : stage.time + 1 + random.below(2 * LIFETIME))
    else if (dice < 65 && one !== undefined) stage.order(CommandType.CANCEL_ORDER, target(one))
    else if (dice < 75 && one !== undefined) {
      stage.order(CommandType.REPLACE_ORDER, { ...target(one), options: Option.NEW_LOTS, lots: 1 + random.below(20) })
    } else if (dice < 80) stage.time += random.below(LIFETIME / 10)
    else {
      const due = names(resting.filter(({ expiresAt }) => expiresAt <= stage.time))
      const most = 1 + random.below(5)
      const named = stage.expire(most)
      expired += named.length
      t.strictSame(named, due.slice(0, most), `seed ${seed}, step ${step}`)
    }
    if (step % 50 === 0) checkInvariants(stage.state)
    if (step % 700 === 699) stage.bench = copyStored(stage.text, stage.state)
  }
  t.ok(expired > 300, `${expired} expired`)
})

t.test('a queue made from the rows names what the other names', async (t) => {
  const stage = new Stage()
  for (let order = 0; order < 400; order++) stage.place(order % 3 === 0 ? undefined : START + 1 + ((order * 7919) % 1000))
  for (const order of stage.resting().filter((_, index) => index % 4 === 0)) stage.order(CommandType.CANCEL_ORDER, target(order))
  stage.time = START + 500
  const other = copyStored(stage.text, stage.state).state
  const named = stage.due()
  t.ok(named.length > 50)
  t.same(stage.due(TIMED_MAX, other), named)
})

t.test('orders without a time of their own move nothing', async (t) => {
  const stage = new Stage()
  for (let order = 0; order < DUE_ROWS * 4; order++) stage.place()
  const before = [...stage.state.dueKeys]
  for (const order of stage.resting()) {
    stage.time += 10
    stage.order(CommandType.CANCEL_ORDER, target(order))
    stage.place()
  }
  t.same([...stage.state.dueKeys], before)
  checkInvariants(stage.state)
  stage.time = START + LIFETIME + 5 * DUE_ROWS
  t.equal(stage.expire().length, DUE_ROWS / 2, 'and end in time')
  checkInvariants(stage.state)
})

t.test('ten thousand of one moment: a bounded part of each turn, in order', async (t) => {
  const stage = new Stage()
  for (let order = 0; order < 10_000; order++) stage.place(START + 5000)
  for (let order = 0; order < 5; order++) stage.place(START + 4999, 99)
  const expected = names(stage.resting())
  stage.time = START + 5000
  const met = []
  for (let turn = 0; turn < Math.ceil(10_005 / TIMED_MAX); turn++) met.push(...stage.expire(4096))
  t.same(met, expected)
  t.equal(stage.resting().length, 0)
  t.same(stage.due(), [])
})

t.test('orders that came and went cost a bounded number of looks a turn', async (t) => {
  const stage = new Stage()
  for (let order = 0; order < (LOOKS_MAX + 100) * DUE_ROWS; order++) stage.place()
  for (const order of stage.resting().filter((_, index) => index % DUE_ROWS === 0)) {
    stage.order(CommandType.CANCEL_ORDER, target(order))
    const { slot, orderSequence } = stage.place(stage.time + 1)
    stage.order(CommandType.CANCEL_ORDER, { targetSlot: slot!, targetSequence: orderSequence! })
  }
  stage.time += 10
  const timers = createTimers()
  const left = (): number => stage.state.dueKeys.filter((key, at) => at % 2 === 0 && key > 0 && key <= stage.time).length
  t.equal(left(), LOOKS_MAX + 100)
  t.equal(writeDue(timers, stage.state, stage.time, batch, 0, TIMED_MAX), 0)
  t.equal(left(), 100)
  t.ok(timers.behind, 'and the next turn goes on')
  t.equal(writeDue(timers, stage.state, stage.time, batch, 0, TIMED_MAX), 0)
  t.equal(left(), 0)
  t.notOk(timers.behind)
  checkInvariants(stage.state)
})
