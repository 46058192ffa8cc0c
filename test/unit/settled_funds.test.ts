/**
 * Promise: a fill that its payers cannot cover, and an order that ends while it still holds atoms, stop the engine in the middle of the
 * command, by the number of the invariant: whatever let that happen, nobody sees its outcome.
 */
import t from 'tap'
import { balanceRow, setI64 } from '../../core/state/rows.ts'
import type { I64Field } from '../../core/layout/table.ts'
import { BALANCE, ORDER, ORDER_WORDS, TERMS_WORDS } from '../../core/state/columns.ts'
import { giveSlot } from '../../core/book/pool.ts'
import { settle } from '../../core/ledger/settle.ts'
import type { State } from '../../core/state/state.ts'
import { Scene } from '../support/scenario.ts'

const [ANN, CAT, BTC, USD] = [0, 1, 0, 1]
const addressOf = (state: State, slot: number): number => state.ordersAt + slot * ORDER_WORDS

/** Ann's order and then cat's rest, in slots 0 and 1. */
function resting(ask: boolean): State {
  const scene = new Scene({ pair: { makerFeeBps: '-1', takerFeeBps: '5' } })
  scene.give('ann 10 BTC, 1000 USD')
  scene.give('cat 10 BTC, 1000 USD')
  scene.step(ask ? 'ann sells 1 at 100' : 'ann buys 1 at 100')
  scene.step(ask ? 'cat buys 1 at 99' : 'cat sells 1 at 101')
  return scene.bench.state
}

const set = (state: State, account: number, asset: number, field: I64Field, atoms: bigint): void => {
  setI64(state, balanceRow(state, account, asset), field, atoms)
}

/** Cat's order takes ann's, whole. */
const trade = (state: State, ask: boolean): void =>
  settle(state, addressOf(state, 1), addressOf(state, 0), state.termsAt + 0 * TERMS_WORDS, ask ? 0 : 1, 10_000, 1000)

const SPOILED: [what: string, ask: boolean, spoil: (state: State) => void][] = [
  ['the available that a buyer pays from', true, (state) => set(state, CAT, USD, BALANCE.AVAILABLE, 100_049_999n)],
  ['the available that a seller gives from', false, (state) => set(state, CAT, BTC, BALANCE.AVAILABLE, 99_999_999n)],
  ['the locked of an ask', true, (state) => set(state, ANN, BTC, BALANCE.LOCKED, 99_999_999n)],
  ['the locked of a bid', false, (state) => set(state, ANN, USD, BALANCE.LOCKED, 99_999_999n)],
  ['the hold of an ask', true, (state) => (state.ordersI64[ORDER.HOLD >>> 1] = 99_999_999n)],
  ['the hold of a bid', false, (state) => (state.ordersI64[ORDER.HOLD >>> 1] = 99_999_999n)],
  ['the available of a maker', true, (state) => set(state, ANN, USD, BALANCE.AVAILABLE, -200_000_000n)],
]

for (const [what, ask, spoil] of SPOILED) {
  t.test(what, async (t) => {
    const good = resting(ask)
    if (ask) set(good, CAT, USD, BALANCE.AVAILABLE, 100_050_000n)
    else set(good, CAT, BTC, BALANCE.AVAILABLE, 100_000_000n)
    t.doesNotThrow(() => trade(good, ask), 'to the last atom')
    const spoiled = resting(ask)
    spoil(spoiled)
    t.throws(() => trade(spoiled, ask), { name: 'InvariantBroken', message: /^I2: the fill between orders 4 and 3 left/ })
  })
}

t.test('a command ends in the middle', async (t) => {
  const scene = new Scene()
  scene.give('ann 1 BTC')
  scene.give('cat 100 USD')
  scene.step('ann sells 1 at 100')
  set(scene.bench.state, ANN, BTC, BALANCE.LOCKED, 0n)
  t.throws(() => scene.step('cat buys 1 at 100'), { message: /^I2: the fill between/ })
})

t.test('an order that ends holds nothing', async (t) => {
  for (const hold of [1n, -1n, 1n << 32n]) {
    const state = resting(true)
    state.ordersI64[ORDER.HOLD >>> 1] = hold
    const message = `I2: order 3 ended and still holds ${hold} atoms`
    t.throws(() => giveSlot(state, addressOf(state, 0)), { name: 'InvariantBroken', message })
  }
  const scene = new Scene()
  scene.give('ann 1 BTC')
  scene.give('cat 100 USD')
  scene.step('ann sells 1 at 100')
  // What a hold has more than its order is worth is left when it is filled.
  scene.bench.state.ordersI64[ORDER.HOLD >>> 1] = 100_000_001n
  t.throws(() => scene.step('cat buys 1 at 100'), { message: 'I2: order 3 ended and still holds 1 atoms' })
})
