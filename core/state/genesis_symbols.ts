/** The symbols of a genesis that begins a new exchange (layout/symbols.ts). */
import { ASSET_SYMBOL, PERPETUAL_SYMBOL, SPOT_SYMBOL } from '../layout/symbols.ts'
import { GenesisError, type Genesis } from './genesis.ts'

/** Throws {@link GenesisError} for a symbol outside of the grammar. */
export function checkSymbols({ assets, pairs }: Genesis): void {
  for (const { symbol } of assets) check(symbol, ASSET_SYMBOL, 'of 1 to 16 capital letters, digits and points')
  for (const { symbol, perp } of pairs) {
    if (perp === null) check(symbol, SPOT_SYMBOL, 'of the form BASE/QUOTE')
    else check(symbol, PERPETUAL_SYMBOL, 'of the form BASE/QUOTE-PERP')
  }
}

function check(symbol: string, form: RegExp, words: string): void {
  if (!form.test(symbol)) throw new GenesisError(`genesis: the symbol ${JSON.stringify(symbol)} is not ${words}`)
}
