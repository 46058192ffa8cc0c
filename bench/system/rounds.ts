/**
 * Rounds of order entry over several connections, in two ways. Saturated: every connection keeps so many orders not answered, which finds
 * the rate; its latencies are that number divided by the rate and say nothing else. At fixed times: so many orders a second whatever the
 * exchange does, their latencies counted from when they were due (open_loop.ts).
 */
import type { Exchange } from '../../test/support/exchange.ts'
import type { Trader } from '../../test/support/traders.ts'
import { median, quantile } from '../result.ts'
import type { Tally } from './grpc_load.ts'
import { offer, until } from './open_loop.ts'
import { endOrders } from './orders.ts'

/** One connection of a load generator. */
export interface Load<Item> {
  readonly tally: Tally
  /** Sent and not answered. */
  readonly open: number
  send(item: Item, due: number): void
  flush(): void
  drive(next: () => Item | null, inFlight: number): Promise<void>
}

export interface Pace {
  readonly ms: number
  /** Orders at fixed times over all connections together; without it every connection is saturated. */
  readonly perSecond?: number
}

export interface Driven {
  readonly tallies: readonly Tally[]
  readonly seconds: number
  /** How late the generator was, ms, sorted; none when saturated. */
  readonly late: Float64Array
}

export type Mode = (exchange: Exchange, traders: readonly Trader[], pair: string, seed: number, pace: Pace) => Promise<Driven>

const NONE = new Float64Array(1)
const ANSWERED_WITHIN_MS = 30_000

/** Items that come round again. */
export function cycle<Item>(items: readonly Item[]): () => Item | null {
  let next = 0
  return () => items[next++ % items.length]!
}

/** Items once each. */
export function once<Item>(items: readonly Item[]): () => Item | null {
  let next = 0
  return () => items[next++] ?? null
}

/** Drives every load with the items of its own `next`; a round ends early when one of them is used up. */
export async function drive<Item>(
  loads: readonly Load<Item>[], nexts: readonly (() => Item | null)[], { ms, perSecond }: Pace, inFlight: number,
): Promise<Driven> {
  const tallies = loads.map(({ tally }) => tally)
  const started = performance.now()
  const seconds = (): number => (performance.now() - started) / 1000
  if (perSecond === undefined) {
    await Promise.all(loads.map((load, i) => load.drive(() => (performance.now() - started < ms ? nexts[i]!() : null), inFlight)))
    return { tallies, seconds: seconds(), late: NONE }
  }
  const send = (due: number, index: number): void => {
    const item = nexts[index % loads.length]!()
    if (item !== null) loads[index % loads.length]!.send(item, due)
  }
  const late = await offer({ perSecond, ms }, send, () => loads.forEach((load) => load.flush()))
  const sent = seconds()
  if (!(await until(() => loads.every(({ open }) => open === 0), ANSWERED_WITHIN_MS))) throw new Error('orders were not answered')
  return { tallies, seconds: sent, late }
}

export interface Round {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly refused: number
  /** 99th percentile, ms. */
  readonly late: number
}

/** One round of a mode. */
export async function round(
  mode: Mode, exchange: Exchange, traders: readonly Trader[], pair: string, seed: number, pace: Pace,
): Promise<Round> {
  const { tallies, seconds, late } = await mode(exchange, traders, pair, seed, pace)
  await endOrders(traders)
  const latencies = Float64Array.from(tallies.flatMap((tally) => tally.latencies)).sort()
  const accepted = tallies.reduce((sum, tally) => sum + tally.accepted, 0)
  return {
    rate: accepted / seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), late: quantile(late, 0.99),
    refused: tallies.reduce((sum, tally) => sum + tally.refused, 0),
  }
}

export interface Measured {
  readonly saturated: readonly Round[]
  /** At half the rate of those, at fixed times. */
  readonly half: readonly Round[]
}

/** A round that warms, some that are saturated, and as many at half their rate. */
export async function measure(
  mode: Mode, exchange: Exchange, traders: readonly Trader[], pair: string, rounds: number, ms: number, seed: number,
): Promise<Measured> {
  const take = (i: number, pace: Pace): Promise<Round> => round(mode, exchange, traders, pair, seed + i, pace)
  await take(0, { ms: 2000 })
  const saturated: Round[] = []
  const half: Round[] = []
  for (let i = 0; i < rounds; i++) saturated.push(await take(1 + i, { ms }))
  const perSecond = median(saturated.map(({ rate }) => rate)) / 2
  for (let i = 0; i < rounds; i++) half.push(await take(1 + rounds + i, { ms, perSecond }))
  return { saturated, half }
}

/** Figures of a mode; `verifies` is V of the same run. */
export function figuresOf(name: string, { saturated, half }: Measured, verifies: number): Record<string, number> {
  const of = (rounds: readonly Round[], figure: keyof Round): number => median(rounds.map((each) => each[figure]))
  const rate = of(saturated, 'rate')
  return {
    [`${name}, orders/s`]: rate,
    [`${name}, fraction of V`]: rate / verifies,
    [`${name}, saturated, p50, ms`]: of(saturated, 'p50'),
    [`${name}, saturated, p99, ms`]: of(saturated, 'p99'),
    [`${name}, at half the rate, p50, ms`]: of(half, 'p50'),
    [`${name}, at half the rate, p99, ms`]: of(half, 'p99'),
    [`${name}, at half the rate, generator late, p99, ms`]: of(half, 'late'),
    [`${name}, refused`]: [...saturated, ...half].reduce((sum, each) => sum + each.refused, 0),
  }
}
