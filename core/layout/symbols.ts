/**
 * The grammar of symbols, for the command line, HTTP and the genesis of a new exchange: an asset is 1 to 16 capital letters, digits and
 * points; a spot pair is BASE/QUOTE, a perpetual BASE/QUOTE-PERP. Programs split pairs at the slash and take symbols for keys, names of
 * files and markup. An exchange that was begun with other symbols keeps them.
 */
const ASSET = '[A-Z0-9.]{1,16}'

export const ASSET_SYMBOL = new RegExp(`^${ASSET}$`)
export const SPOT_SYMBOL = new RegExp(`^${ASSET}/${ASSET}$`)
export const PERPETUAL_SYMBOL = new RegExp(`^${ASSET}/${ASSET}-PERP$`)
