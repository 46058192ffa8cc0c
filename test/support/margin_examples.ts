/**
 * Worked examples of margin trading (test/examples/margin): what they may say, and a player that puts them to the engine.
 *
 * An example is a list of steps. A step does one thing as one command, and `then` says what comes of it; or it looks at what there is.
 * Amounts are atoms, prices ticks, sizes lots. Fields that nobody knows are refused, so that a misspelt expectation cannot pass.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { genesisText, pairSpec, type PairSpec } from './variants.ts'

const FOLDER = join(import.meta.dirname, '..', 'examples', 'margin')

export interface Then {
  /** Code of the refusal; absent: it is accepted. */
  code?: string
  status?: string
  hold?: number
  remaining?: number
  /** Of INSUFFICIENT_MARGIN. */
  required?: number
  available?: number
}

/** Which bucket is meant: of a pair, or the cross one; with a strategy key. */
export interface Where { pair?: string; cross?: boolean; key?: string }

export interface Order extends Where {
  do: 'order'
  who: string
  pair: string
  side: 'BUY' | 'SELL'
  lots: number
  price: number
  leverage?: number
  reduceOnly?: boolean
  collateral?: number
  /** Names the bucket of that pair. */
  inBucketOf?: string
  /** A name for it in later steps. */
  as?: string
  then?: Then
}

export interface See {
  do: 'see'
  who: string
  free?: number
  deposited?: number
  bucket?: Where & { none?: boolean; allocated?: number; pending?: number; realized?: number; state?: string }
  position?: Where & { none?: boolean; lots?: number; cost?: number; realized?: number; funding?: number; opened?: number }
  order?: { as: string; none?: boolean; remaining?: number }
}

export type Step =
  | { do: 'deposit' | 'withdraw'; who: string; amount: number; then?: Then }
  | ({ do: 'to_bucket' | 'from_bucket'; who: string; amount: number; then?: Then } & Where)
  | ({ do: 'open_bucket'; who: string } & Where)
  | { do: 'price'; pair: string; at: number; mark?: number }
  | { do: 'pass'; seconds: number }
  | { do: 'settle'; pair: string; at: number }
  | { do: 'funding'; pair: string; rate: number }
  | { do: 'insure'; amount: number }
  | { do: 'liquidate' }
  | ({ do: 'health'; who: string; unhealthy: boolean } & Where)
  | { do: 'cancel'; who: string; order: string; then?: Then }
  | { do: 'total'; fundingPool?: number; fundEquity?: number; badDebt?: number }
  | Order
  | See

export interface Example {
  name: string
  why: string
  steps: Step[]
}

const WHERE = ['pair', 'cross', 'key']
const FIELDS: Record<Step['do'], readonly string[]> = {
  deposit: ['who', 'amount', 'then'], withdraw: ['who', 'amount', 'then'], to_bucket: ['who', 'amount', 'then', ...WHERE],
  from_bucket: ['who', 'amount', 'then', ...WHERE], open_bucket: ['who', ...WHERE], price: ['pair', 'at', 'mark'], pass: ['seconds'],
  settle: ['pair', 'at'],
  funding: ['pair', 'rate'], insure: ['amount'], liquidate: [], health: ['who', 'unhealthy', ...WHERE], cancel: ['who', 'order', 'then'],
  total: ['fundingPool', 'fundEquity', 'badDebt'], see: ['who', 'free', 'deposited', 'bucket', 'position', 'order'],
  order: ['who', 'side', 'lots', 'price', 'leverage', 'reduceOnly', 'collateral', 'inBucketOf', 'as', 'then', ...WHERE],
}
const NESTED: Record<string, readonly string[]> = {
  then: ['code', 'status', 'hold', 'remaining', 'required', 'available'],
  bucket: ['none', 'allocated', 'pending', 'realized', 'state', ...WHERE],
  position: ['none', 'lots', 'cost', 'realized', 'funding', 'opened', ...WHERE],
}

/** What is wrong with the form of an example; empty: nothing. */
export function faultsOf({ name, why, steps, ...rest }: Example): string[] {
  const faults = Object.keys(rest).map((field) => `unknown field ${field}`)
  if (!name || !why || why.length < 40) faults.push('name or arithmetic is missing')
  if (!steps.some((step) => ['see', 'health', 'total'].includes(step.do) || ('then' in step && step.then?.code !== undefined))) {
    faults.push('nothing is expected')
  }
  for (const step of steps) {
    const allowed = FIELDS[step.do]
    if (allowed === undefined) faults.push(`unknown step ${step.do}`)
    for (const [field, value] of Object.entries(step)) {
      if (field !== 'do' && allowed?.includes(field) === false) faults.push(`${step.do}: unknown field ${field}`)
      const inner = field === 'order' && typeof value === 'object' ? ['as', 'none', 'remaining'] : NESTED[field]
      if (inner === undefined || typeof value !== 'object') continue
      for (const each of Object.keys(value as object)) if (!inner.includes(each)) faults.push(`${step.do}.${field}: unknown field ${each}`)
    }
  }
  return faults
}

/** Every example by its file, without the markets. */
export function readExamples(): { subject: string; examples: Example[] }[] {
  return globSync('*.json', { cwd: FOLDER }).filter((file) => file !== 'markets.json').sort().map((file) => ({
    subject: basename(file, '.json'), examples: JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Example[],
  }))
}

interface Market { makerFeeBps: string; takerFeeBps: string; liquidationFeeBps: string; maxFundingRate: string; riskTiers: object[] }

/** The pairs of the examples, in the order of their numbers. */
export const MARKETS = (JSON.parse(readFileSync(join(FOLDER, 'markets.json'), 'utf8')) as { pairs: Record<string, Market> }).pairs
export const PAIRS = Object.keys(MARKETS)

/** The genesis that all of them are played in, each in an exchange of its own. */
export function examplesGenesis(): string {
  const pairs = PAIRS.map((name): PairSpec => {
    const { makerFeeBps, takerFeeBps, ...perp } = MARKETS[name]!
    const terms = {
      referencePrice: '1000', impactNotional: '5', maxPositionSize: '1000000', fundingIntervalSeconds: 3600, markBandBps: '300',
      indexBandBps: '1000', staleSeconds: 3600, basisSeconds: 150, fundShareBps: '10000', fundOwnerAllowance: '1000000000',
      deleverageWindowMinutes: 0, deleverageHolderBps: '10000', jumpWindowSeconds: 0, ...perp,
    }
    const spot = pairSpec(`${name}/USD`, { tickSize: '1', maxOrderSize: '1000000', makerFeeBps, takerFeeBps })
    return { ...spot, symbol: `${name}/USD-PERP`, perp: terms } as PairSpec
  })
  return genesisText({
    limits: { orders: 512, accounts: 16, priceTicks: 2_097_152, receipts: 64 }, dailyLimit: 3,
    assets: [['USD', 3, '1000000000'], ['BTC', 3, '0'], ['ETH', 3, '0'], ['SOL', 3, '0']], pairs,
  })
}
