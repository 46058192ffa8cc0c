/** Orders that a workload names by their client order ids. */
import type { Genesis } from '../../core/state/genesis.ts'
import type { Decoded } from '../../core/layout/table.ts'

/** The client order ids of all clients. */
export const LABELS = ['a', 'a label of exactly forty bytes, not less', ...Array.from({ length: 12 }, (_, index) => `bot-${index}`)]

/**
 * What names an order by a client order id instead of its place, prices and lots of a replacement as decimals with it: by the time, so that
 * other streams stay as they are. Whose id that is by then is left to chance; some decimals are no tick.
 */
export function namedAt(time: number, values: Decoded, { pairs }: Genesis, pair: number): Decoded {
  if (time % 7 !== 0) return values
  return namedBy(LABELS[(time / 7) % LABELS.length]!, values, { pairs }, pair, time % 21 === 0)
}

/** The same with this client order id; `spoiled`: the price is no tick. */
export function namedBy(text: string, values: Decoded, { pairs }: Pick<Genesis, 'pairs'>, pair: number, spoiled: boolean): Decoded {
  const { targetSlot: _slot, targetSequence: _sequence, price = 0, lots = 0, ...rest } = values
  const { priceScale, tickUnits, lotScale, lotUnits } = pairs[pair] ?? pairs[0]!
  const name = { targetLength: text.length, target: Buffer.from(text).toString('hex').padEnd(80, '0') }
  if (!('label' in values)) return { ...rest, ...name }
  return {
    ...rest, ...name, priceUnits: Number(price) * tickUnits * 10 + (spoiled ? 1 : 0), priceScale: priceScale + 1,
    lotsUnits: Number(lots) * lotUnits, lotsScale: lotScale,
  }
}
