/** Commands of the operator's command line that list assets and pairs and change terms; see commands.ts. */
import type { Ask } from './client.ts'
import { get, said, UsageError, type Command, type Options } from './command.ts'
import { printable, table } from './text.ts'

interface Asset {
  readonly id: string
  readonly symbol: string
  readonly token: string
  readonly decimals: number
  readonly scale: number
  readonly faucetAmount: string
}
interface Pair {
  readonly id: string
  readonly symbol: string
  readonly status: string
  readonly sequence: number
  readonly minOrderSize: string
  readonly maxOrderSize: string
  readonly minNotional: string
  readonly makerFeeBps: string
  readonly takerFeeBps: string
}

const TOKEN = '0x00000000000000000000000000000000000010ff'

/** What was typed of these, under the names of the port. */
function typed(options: Options, names: Readonly<Record<string, keyof Options>>): Record<string, string> {
  return Object.fromEntries(Object.entries(names).flatMap(([field, name]) => {
    const value = options[name]
    return typeof value === 'string' ? [[field, value]] : []
  }))
}

const TERMS = {
  minOrderSize: 'min', maxOrderSize: 'max', minNotional: 'min-notional', makerFeeBps: 'maker', takerFeeBps: 'taker',
} as const

function whole(text: string, name: string): number {
  if (!/^\d{1,2}$/.test(text)) throw new UsageError(`${name} is a whole number from 0 to 18`)
  return Number(text)
}

const sayTerms = ({ symbol, minOrderSize, maxOrderSize, minNotional, makerFeeBps, takerFeeBps }: Pair): string =>
  `${printable(symbol)}: orders of ${minOrderSize} to ${maxOrderSize}, worth ${minNotional} at least; `
  + `maker ${makerFeeBps} bps, taker ${takerFeeBps} bps`

export const LISTING_COMMANDS: readonly Command[] = [
  {
    name: 'assets list',
    parameters: [],
    purpose: 'every asset: its token, digits and what the faucet gives',
    explains: 'ROOM is how many more can be listed before the limit is raised.',
    example: ['assets list', `SYMBOL  DECIMALS  SCALE  FAUCET  TOKEN\nUSDC           6      6  10000   ${TOKEN}\n\nroom for 4 more`],
    run: async (ask) => {
      const answer = await get<{ assets: readonly Asset[]; room: number }>(ask, '/assets')
      const rows = answer.assets.map(({ symbol, decimals, scale, faucetAmount, token }) => [symbol, decimals, scale, faucetAmount, token])
      return said(answer, `${table(['SYMBOL', 'DECIMALS', 'SCALE', 'FAUCET', 'TOKEN'], rows)}\n\nroom for ${answer.room} more`)
    },
  },
  {
    name: 'assets add',
    parameters: ['SYMBOL'],
    options: [
      { name: 'token', value: 'ADDRESS' }, { name: 'decimals', value: 'DIGITS' },
      { name: 'scale', value: 'DIGITS', optional: true }, { name: 'faucet', value: 'AMOUNT', optional: true },
    ],
    purpose: 'list an asset, for good',
    explains: 'Decimals are those of the token; scale is how many of them are kept here, 9 or fewer if it is not given: 64 bits hold all\n'
      + 'balances. The faucet gives AMOUNT a request, nothing if it is not given. Symbol, token and digits cannot be changed later,\n'
      + 'and an asset is never taken away. It is in the journal; users see it at once.',
    example: [`assets add SOL --token ${TOKEN} --decimals 9 --faucet 100`, 'SOL is listed (sequence 1042)'],
    run: async (ask, [symbol], options) => {
      const { token, decimals, scale, faucet } = options
      const body = {
        symbol, token, decimals: whole(decimals!, '--decimals'), ...(scale === undefined ? {} : { scale: whole(scale, '--scale') }),
        ...(faucet === undefined ? {} : { faucetAmount: faucet }),
      }
      const added = await get<Asset & { sequence: number }>(ask, '/assets', body)
      return said(added, `${printable(added.symbol)} is listed (sequence ${added.sequence})`)
    },
  },
  {
    name: 'pairs add',
    parameters: ['BASE', 'QUOTE'],
    options: [
      { name: 'tick', value: 'PRICE' }, { name: 'lot', value: 'SIZE' },
      { name: 'min', value: 'SIZE' }, { name: 'max', value: 'SIZE' },
      { name: 'min-notional', value: 'AMOUNT' }, { name: 'maker', value: 'BPS' }, { name: 'taker', value: 'BPS' },
      { name: 'category', value: 'NAME', optional: true },
    ],
    purpose: 'list a trading pair, for good; it is CANCEL_ONLY until pairs set lets orders in',
    explains: 'BASE and QUOTE are listed assets. Tick is the step of prices, lot that of quantities; tick times lot must be a\n'
      + 'whole number of the quote\'s smallest units, and neither can be changed later. Fees are basis points; a maker fee below 0 is a\n'
      + 'rebate, typed --maker=-0.5, which the taker fee must pay whatever the fee tiers take off. Look at it, then:\n'
      + 'pairs set BASE/QUOTE ACTIVE.',
    example: ['pairs add SOL USDC --tick 0.01 --lot 0.01 --min 0.01 --max 100000 --min-notional 1 --maker 1 --taker 5',
      'SOL/USDC is listed and CANCEL_ONLY (sequence 1043); pairs set SOL/USDC ACTIVE lets orders in'],
    run: async (ask, [base, quote], options) => {
      const body = { base, quote, ...typed(options, { ...TERMS, tickSize: 'tick', lotSize: 'lot', category: 'category' }) }
      const added = await get<Pair>(ask, '/pairs/add', body)
      const symbol = printable(added.symbol)
      return said(added, `${symbol} is listed and ${added.status} (sequence ${added.sequence}); pairs set ${symbol} ACTIVE lets orders in`)
    },
  },
  {
    name: 'pairs terms',
    parameters: ['PAIR'],
    options: [
      { name: 'min', value: 'SIZE', optional: true }, { name: 'max', value: 'SIZE', optional: true },
      { name: 'min-notional', value: 'AMOUNT', optional: true }, { name: 'maker', value: 'BPS', optional: true },
      { name: 'taker', value: 'BPS', optional: true },
    ],
    purpose: 'change sizes, least value and fees of a pair; what is not given stays',
    explains: 'From the next command on. Resting orders keep the maker fee they were placed with, and their size; when takers would\n'
      + 'pay less than such an order earns, the change is refused until it is gone. Tick and lot are for ever.',
    example: ['pairs terms SOL/USDC --maker 0 --taker 4',
      'SOL/USDC: orders of 0.01 to 100000, worth 1 at least; maker 0 bps, taker 4 bps (sequence 1044)'],
    run: async (ask: Ask, [pair], options) => {
      const terms = typed(options, TERMS)
      if (Object.keys(terms).length === 0) throw new UsageError('which terms? There is: --min, --max, --min-notional, --maker, --taker')
      const changed = await get<Pair>(ask, '/pairs/terms', { pair, ...terms })
      return said(changed, `${sayTerms(changed)} (sequence ${changed.sequence})`)
    },
  },
]
