/**
 * Promise: half of the places of TWAP orders are kept for accounts that could place the least order of the pair; what an account has is
 * its balances, locked or not, of spot pairs, and the collateral of the margin account of perpetuals. Before the rules 5 it was not asked.
 */
import t from 'tap'
import { Flag } from '../../core/layout/command.ts'
import { REFUSALS, refusalByNumber } from '../../core/layout/refusals.ts'
import { makeTwap, twapFunding } from '../../core/programs/twaps.ts'
import { BALANCE, SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { balanceRow, setI64 } from '../../core/state/rows.ts'
import type { I64Field } from '../../core/layout/table.ts'
import { createState, type State } from '../../core/state/state.ts'
import { genesisText, pairSpec } from '../support/variants.ts'
import { WaitingStage } from '../support/waiting_stage.ts'

const MINUTE = 60_000
const PLACES = 8
const OPENS = { flags: Flag.MARGIN, leverage: 200, lots: 100, durationMs: 5 * MINUTE }

t.test('on a perpetual the second half needs collateral', async (t) => {
  const stage = new WaitingStage({}, { twapOrders: PLACES, twapOrdersPerAccount: PLACES })
  const asked = (name: string): string => WaitingStage.codeOf(stage.twap(name, OPENS).events)
  for (const name of ['a', 'b', 'c', 'd']) t.equal(asked(name), '', `${name} has nothing, and half is free`)
  t.equal(asked('e'), 'INSUFFICIENT_MARGIN')
  stage.deposit('f', 100)
  t.equal(asked('f'), '', 'one that has something')
  stage.deposit('e', 100)
  t.equal(asked('e'), '', 'the same, once it has')
})

const [BUYS, SELLS] = [0, Flag.SELL]

/** A spot pair whose half is taken; the least order has 10 lots of a hundredth, or is worth 5. */
function spot(rules?: number): State {
  const text = genesisText({
    ...(rules === undefined ? {} : { rules }), limits: { accounts: 16, priceTicks: 1024, twapOrders: PLACES, orders: 256 }, dailyLimit: 1,
    assets: [['USD', 2, '60'], ['BTC', 3, '0.2']],
    pairs: [pairSpec('BTC/USD', { tickSize: '1', lotSize: '0.01', minOrderSize: '0.1', maxOrderSize: '5', minNotional: '5' })],
  })
  const state = createState(parseGenesis(text), createOutbox(64))
  for (let taken = 0; taken < PLACES / 2; taken++) makeTwap(state, 1)
  return state
}
const codeOf = (state: State, flags: number): string => {
  const number = twapFunding(state, 0, 0, flags, -1)
  return number === 0 ? '' : refusalByNumber(number).code
}
const setBalance = (state: State, asset: number, field: I64Field, atoms: bigint): void => {
  setI64(state, balanceRow(state, 0, asset), field, atoms)
}

t.test('on a spot pair it needs what the order pays with, to the atom', async (t) => {
  const state = spot()
  t.same([codeOf(state, BUYS), codeOf(state, SELLS)], ['INSUFFICIENT_BALANCE', 'INSUFFICIENT_BALANCE'])
  setBalance(state, 0, BALANCE.AVAILABLE, 499n)
  t.equal(codeOf(state, BUYS), 'INSUFFICIENT_BALANCE', 'an atom less than the least value')
  setBalance(state, 0, BALANCE.LOCKED, 1n)
  t.equal(codeOf(state, BUYS), '', 'what rests in orders counts')
  t.equal(codeOf(state, SELLS), 'INSUFFICIENT_BALANCE', 'it has nothing to sell')
  setBalance(state, 1, BALANCE.AVAILABLE, 99n)
  t.equal(codeOf(state, SELLS), 'INSUFFICIENT_BALANCE', 'an atom less than the least quantity')
  setBalance(state, 1, BALANCE.AVAILABLE, 100n)
  t.equal(codeOf(state, SELLS), '')
})

t.test('before the rules 5, and while half is free, nothing is asked', async (t) => {
  t.equal(codeOf(spot(4), BUYS), '')
  const state = spot()
  state.scalars[SCALAR.TWAPS_LIVE]!--
  t.equal(codeOf(state, BUYS), '')
  t.equal(REFUSALS.INSUFFICIENT_BALANCE.number, 400)
})
