/**
 * Promise: of a cancel or a replacement by client order id an export tells the name and the decimals as they came,
 * and no pair, order or quantity that the command does not have; its answer has those.
 */
import t from 'tap'
import { COMMAND_SLOTS, CommandType, kindOf, Option, ORDER_COMMAND } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { COMMAND_COLUMNS } from '../../core/replay/command_columns.ts'
import type { Cell } from '../../core/replay/meanings.ts'
import { Names } from '../../core/replay/names.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const assets: [string, number, string][] = [['USD', 6, '1'], ['BTC', 8, '1'], ['ETH', 9, '1']]
const pairs = [pairSpec('BTC/USD'), pairSpec('ETH/USD')]
const names = new Names(createState(parseGenesis(genesisText({ limits: {}, dailyLimit: 2, assets, pairs }))))
const NAME = 'quote-1'
const target = { targetLength: NAME.length, target: Buffer.from(NAME).toString('hex') }

/** What is told of an order command with these values. */
function told(type: CommandType, values: Decoded): Record<string, Cell> {
  const views = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  encode(ORDER_COMMAND, views, 0, { kind: kindOf(type, 2, 1), session: -1, ...values })
  const cells = COMMAND_COLUMNS[type].map(({ name, cell }) => [name, cell({ views, at: 0, names })] as const)
  return Object.fromEntries(cells.filter(([, value]) => value !== null))
}

t.test('a cancel', async (t) => {
  t.match(told(CommandType.CANCEL_ORDER, target), { targetClientOrderId: NAME })
  t.notOk('orderId' in told(CommandType.CANCEL_ORDER, target))
  const byId = told(CommandType.CANCEL_ORDER, { targetSlot: 7, targetSequence: 42 })
  t.ok('orderId' in byId && !('targetClientOrderId' in byId))
})

t.test('a replacement', async (t) => {
  const decimals = { priceUnits: 1999_125, priceScale: 3, lotsUnits: 5, lotsScale: 1 }
  const both = { options: Option.NEW_PRICE | Option.NEW_LOTS }
  const named = told(CommandType.REPLACE_ORDER, { ...target, ...decimals, ...both })
  t.match(named, { targetClientOrderId: NAME, price: '1999.125', quantity: '0.5' })
  for (const field of ['pair', 'replacedOrderId']) t.notOk(field in named, `${field} is not known yet`)
  const kept = told(CommandType.REPLACE_ORDER, { ...target, priceUnits: 7, options: Option.NEW_PRICE })
  t.match(kept, { price: '7' })
  t.notOk('quantity' in kept, 'it stays what it is')
  const place = { targetSlot: 7, targetSequence: 42, pair: 1 }
  const byId = told(CommandType.REPLACE_ORDER, { ...place, price: 150, lots: 3, ...both })
  t.match(byId, { pair: 'ETH/USD', replacedOrderId: /^[0-9a-f-]{36}$/ })
  t.ok('price' in byId && 'quantity' in byId)
  for (const [priceUnits, priceScale] of [[0.5, 0], [2 ** 60, 0], [1, -1], [1, 19]] as const) {
    const wrong = told(CommandType.REPLACE_ORDER, { ...target, ...both, priceUnits, priceScale })
    t.notOk('price' in wrong, 'what no gateway sends is no decimal')
  }
})
