/**
 * Reads the worked examples of test/examples and refuses what is not whole: a field nobody knows, an example without
 * its citation or its working, an order without its end, balances that do not add up. So a misspelt expectation is
 * never one that nobody checks.
 *
 *   example    name, market, other?, cites[], working, wallets {name: faucet requests}, steps[], orders, trades, book,
 *              otherBook?, balances, alone?
 *   cites      'specification 163: words', 'interface 64: words' (also design, reliability), 'core/README.md: words'
 *   steps      see {@link STEPS}. `as` names an order for later steps, `same` says that it is one named before
 *   result     the whole match result; what is not there must be null or absent
 *   refused    http and code; error, field and begins (of the message) where the specification says them
 *   open       what the specification leaves open here, and therefore is not looked at; never a field that is said
 *   orders     how each named order stands at the end; trades of each wallet from the oldest; the book; all balances as
 *              [available, locked]
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from './transports.ts'

const folder = join(import.meta.dirname, '..', 'examples')
const root = join(folder, '..', '..')

export interface Example {
  readonly name: string
  readonly market: string
  /** A second pair, for orders with `on: other`. */
  readonly other?: string
  readonly cites: readonly string[]
  readonly working: string
  readonly wallets: Readonly<Record<string, number>>
  readonly steps: readonly Json[]
  readonly orders: Readonly<Record<string, Json>>
  readonly trades: Readonly<Record<string, readonly string[]>>
  readonly book: Json
  readonly otherBook?: Json
  readonly balances: Readonly<Record<string, Readonly<Record<string, readonly [available: string, locked: string]>>>>
  /** It changes the whole exchange, so nothing else is played beside it. */
  readonly alone?: boolean
}

export interface Subject {
  readonly subject: string
  readonly examples: readonly Example[]
}

export interface Market {
  readonly quote: string
  readonly [field: string]: string
}

export interface Markets {
  readonly assets: readonly { symbol: string; decimals: number; scale: number; faucetAmount: string }[]
  readonly tiers: readonly { makerDiscountBps: string; takerDiscountBps: string }[]
  readonly markets: Readonly<Record<string, Market>>
}

export const markets = JSON.parse(readFileSync(join(folder, 'markets.json'), 'utf8')) as Markets

/** Fields of each kind of step, by the one that makes it that kind: those it has, and those it may have. */
const STEPS: Readonly<Record<string, readonly [must: string, may: string]>> = {
  create: ['who', 'as same result refused open'],
  replace: ['who with', 'as same result refused open'],
  cancel: ['who', 'refused open'],
  cancelId: ['who refused', 'open'],
  cancelAll: ['who ended', ''],
  batch: ['who answers totals', ''],
  batchOf: ['who item', 'refused totals open'],
  batchReplace: ['who answers totals', ''],
  batchCancel: ['who errors totals', ''],
  simulate: ['who answers', ''],
  book: ['answers', 'open'],
  look: ['who shows', ''],
  has: ['who', ''],
  expires: ['', ''],
  operator: ['to', 'who'],
  makes: ['who', ''],
  limits: ['who asset maxAmount', 'dailyLimit'],
}
const EXAMPLE = [
  'name market cites working wallets steps orders trades book balances', 'other otherBook alone',
] as const
const ORDER = [
  'status filledQuantity remainingQuantity fee',
  'averageFillPrice terminalReason price quantity timeInForce postOnly clientOrderId',
] as const
const RESULT = [
  'status tradesCount totalFilled remainingQuantity',
  'averageFillPrice executionPriceRange actualSlippageBps maxSlippageBps',
] as const
const REFUSED = ['', 'http code error field begins'] as const
const CITATION = /^(?:(?:specification|interface|design|reliability) [1-9]\d*|((?:core|gateway)\/README\.md)): (.{5,})$/
const DIGITS = 18

const words = (text: string): string[] => (text === '' ? [] : text.split(' '))

/** Names what lacks and what is too much. */
function fields(where: string, value: Json, [must, may]: readonly [string, string], ...more: string[]): string[] {
  const known = [...words(must), ...words(may), ...more]
  const lacking = words(must).filter((field) => value[field] === undefined)
  const unknown = Object.keys(value).filter((field) => !known.includes(field))
  return [
    ...lacking.map((field) => `${where} lacks ${field}`),
    ...unknown.map((field) => `${where} has an unknown ${field}`),
  ]
}

/** A decimal as a number of its 10^-18ths. */
export function exact(decimal: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(decimal)
  if (match === null) throw new Error(`${decimal} is no decimal`)
  const digits = BigInt(match[2]! + (match[3] ?? '').padEnd(DIGITS, '0'))
  return match[1] === '-' ? -digits : digits
}

function answerFaults(where: string, answer: Json): string[] {
  const { result, refused, code } = answer
  if (result !== undefined) return fields(`${where}: result`, result, RESULT)
  if (refused === undefined) return code === undefined ? [`${where} lacks its outcome`] : []
  const open: string[] = answer['open'] ?? []
  const unsaid = ['http', 'code'].filter((field) => refused[field] === undefined && !open.includes(field))
  return [
    ...fields(`${where}: refused`, refused, REFUSED),
    ...unsaid.map((field) => `${where} lacks its ${field}`),
  ]
}

function stepFaults(step: Json, index: number): string[] {
  const where = `step ${index + 1}`
  const kind = Object.keys(STEPS).find((field) => field in step)
  if (kind === undefined) return [`${where} is of no known kind`]
  const faults = fields(where, step, STEPS[kind]!, kind)
  const { as, same, result, refused, answers, open = [], shows } = step
  const places = kind === 'create' || kind === 'replace'
  if (places || refused !== undefined) faults.push(...answerFaults(where, step))
  if (places && result !== undefined && (as ?? same) === undefined) faults.push(`${where} names no order`)
  const said = { ...result, ...refused, ...(kind === 'book' ? answers : {}) }
  for (const field of open) if (field in said) faults.push(`${where} says ${field} and leaves it open`)
  if (kind === 'look') faults.push(...fields(where, shows, ORDER))
  if (kind !== 'batch' && kind !== 'batchReplace') return faults
  if (answers.length !== step[kind].length) faults.push(`${where} has not one answer for each item`)
  for (const answer of answers as Json[]) {
    faults.push(...answerFaults(where, answer), ...fields(where, answer, ['', 'as same result code']))
  }
  return faults
}

/** Orders that the steps name. */
const named = ({ steps }: Example): string[] =>
  steps.flatMap((step) => [step, ...(Array.isArray(step['answers']) ? step['answers'] as Json[] : [])])
    .flatMap(({ as }) => (as === undefined ? [] : [as as string]))

/** What the faucet gave is what is there at the end and what was paid in fees, asset by asset. */
function sumFaults({ market, other, wallets, balances, orders, trades }: Example): string[] {
  const faults: string[] = []
  const quotes = new Set([market, ...(other === undefined ? [] : [other])].map((name) => markets.markets[name]!.quote))
  const total = (amounts: readonly string[]): bigint => amounts.reduce((sum, amount) => sum + exact(amount), 0n)
  const paid = total(Object.values(orders).map(({ fee }) => fee as string))
  const told = total(Object.values(trades).flat().map((line) => /fee (\S+)/.exec(line)?.[1] ?? 'no fee'))
  if (paid !== told) faults.push('fees of orders and fees of trades differ')
  for (const { symbol, faucetAmount } of markets.assets) {
    if (symbol !== 'BTC' && !quotes.has(symbol)) continue
    const missing = Object.keys(wallets).filter((who) => balances[who]?.[symbol] === undefined)
    if (missing.length > 0) return missing.map((who) => `${who}'s balance of ${symbol} is missing`)
    const given = total([faucetAmount]) * BigInt(Object.values(wallets).reduce((sum, mints) => sum + mints, 0))
    const left = total(Object.values(balances).flatMap((rows) => rows[symbol]!))
    if (given !== left + (symbol === 'BTC' ? 0n : paid)) faults.push(`${symbol} does not add up`)
  }
  return faults
}

function citationFaults({ cites }: Example): string[] {
  if (cites.length === 0) return ['it cites nothing']
  return cites.flatMap((cite) => {
    const match = CITATION.exec(cite)
    if (match === null) return [`"${cite}" is no citation`]
    if (match[1] === undefined) return []
    const text = readFileSync(join(root, match[1]), 'utf8').replace(/\s+/g, ' ')
    return text.includes(match[2]!) ? [] : [`"${match[2]}" does not stand in ${match[1]}`]
  })
}

/** Everything that is wrong with how an example is written. */
export function faultsOf(example: Example): string[] {
  const shape = fields('it', example as unknown as Json, EXAMPLE)
  if (shape.length > 0) return shape
  const { market, other, working, steps, orders, wallets, trades, balances } = example
  const unknown = [market, other].filter((name) => name !== undefined && markets.markets[name] === undefined)
  if (unknown.length > 0) return unknown.map((name) => `no market ${name}`)
  const acting = steps.flatMap(({ who }) => (who === undefined ? [] : [who as string]))
  const people = [...Object.keys(trades), ...Object.keys(balances), ...acting]
  const strangers = people.filter((who) => wallets[who] === undefined)
  const endless = named(example).filter((label) => orders[label] === undefined)
  return [
    ...citationFaults(example),
    ...(working.length < 10 ? ['it shows no working'] : []),
    ...steps.flatMap(stepFaults),
    ...strangers.map((who) => `${who} has no wallet`),
    ...Object.entries(orders).flatMap(([label, order]) => fields(`order ${label}`, order, ORDER)),
    ...endless.map((label) => `the end of order ${label} is missing`),
    ...(other === undefined || example.otherBook !== undefined ? [] : ['the book of the other pair is missing']),
    ...sumFaults(example),
  ]
}

/** Every file of examples, in the order of their names. */
export function readSubjects(): Subject[] {
  const files = globSync('*.json', { cwd: folder }).sort().filter((file) => file !== 'markets.json')
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Subject)
}
