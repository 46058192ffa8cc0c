/** Promise: a genesis that the engine's 64-bit arithmetic could not hold is refused by name, before anything runs on it. */
import t from 'tap'
import { parseGenesis } from '../../core/state/genesis.ts'
import { genesisText, pairSpec, VARIANTS, type PairSpec } from '../support/variants.ts'

const textOf = (pairs: PairSpec[], scale = 6): string =>
  genesisText({ limits: {}, dailyLimit: 5, assets: [['BTC', scale, '1'], ['USD', 6, '1']], pairs })
const textWith = (pair: Partial<PairSpec>, scale?: number): string => textOf([pairSpec('BTC/USD', pair)], scale)

for (const [name, spec] of Object.entries(VARIANTS)) t.doesNotThrow(() => parseGenesis(genesisText(spec)), `variant ${name}`)

const REFUSED: [what: string, text: string, message: RegExp][] = [
  ['tick × lot below an atom', textWith({ tickSize: '0.0001', lotSize: '0.001' }), /no whole number of quote atoms/],
  ['a lot below an atom of the base', textWith({ lotSize: '0.001' }, 2), /a lot is no whole number of base atoms/],
  ['a size between two lots', textWith({ lotSize: '0.003', minOrderSize: '0.004' }), /minOrderSize is no multiple of the lot/],
  ['an order beyond all that exists', textWith({ lotSize: '1', minOrderSize: '1', maxOrderSize: '9' }, 18), /more than may be issued/],
  ['sizes beyond 31 bits', textWith({ maxOrderSize: '2147484' }), /1\.\.2\^31-1 lots/],
  ['a rebate above the taker fee', textWith({ makerFeeBps: '-6', takerFeeBps: '5' }), /rebate exceeds/],
  ['a negative taker fee', textWith({ makerFeeBps: '6', takerFeeBps: '-5' }), /taker fee must not be negative/],
  ['a fee beyond 200 bps', textWith({ takerFeeBps: '201' }), /beyond 200 bps/],
  ['prices that are no power of two', textWith({}).replace('65536', '65535'), /power of two/],
  ['a pair named twice', textOf([pairSpec('BTC/USD'), pairSpec('BTC/USD')]), /named twice/],
]
for (const [what, text, message] of REFUSED) t.throws(() => parseGenesis(text), message, what)
