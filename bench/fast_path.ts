/**
 * The figures of the guide's section "The fast path": the ways an order may take, each with the newest run that measured it. They stand in
 * gateway/docs/guide/fast_path.json, which `npm run bench -- table` writes; a test holds every figure there to the run it names.
 */
import { join } from 'node:path'
import type { Lines } from './table.ts'
import { shown } from './verdict.ts'

export const FAST_PATH_FILE = join(import.meta.dirname, '..', 'gateway', 'docs', 'guide', 'fast_path.json')

interface Way {
  readonly way: string
  readonly bench: string
  /** Figures of that bench. */
  readonly orders: string
  readonly p50?: string
  readonly p99?: string
}

/** Of a bench that measures several ways: its figures begin with the name of this one. */
const named = (way: string, bench: string, name: string): Way => ({
  way, bench, orders: `${name}, orders/s`, p50: `${name}, at half the rate, p50, ms`, p99: `${name}, at half the rate, p99, ms`,
})

const WAYS: readonly Way[] = [
  named('gRPC, a signed call for each order', 'grpc', 'unary'),
  { way: 'REST, a signed request for each order', bench: 'rest', orders: 'orders/s (2xx, median of rounds)' },
  named('`StreamOrders`, a signature for each order', 'grpc', 'stream'),
  named('WebSocket, a signature for each order', 'ws-orders', 'signed'),
  { way: 'REST, 20 orders to a signed request', bench: 'batch', orders: 'orders/s (median of rounds)' },
  named('**WebSocket in a session**', 'ws-orders', 'in a session'),
  named('**`StreamOrders` in a session**', 'grpc', 'stream in a session'),
]

/** A row as the guide has it: texts, '' for what is not measured. */
export interface FastPathRow {
  readonly way: string
  readonly orders: string
  readonly p50: string
  readonly p99: string
  readonly bench: string
  readonly at: string
}

/** The rows, each from the newest run that measured it or, where `at` names one, from that. */
export function fastPath(lines: Lines, at: Readonly<Record<string, string>> = {}): FastPathRow[] {
  return WAYS.flatMap(({ way, bench, orders, p50, p99 }) => {
    const line = lines(bench).findLast((each) => each.figures[orders] !== undefined && (at[way] ?? each.at) === each.at)
    if (line === undefined) return []
    const text = (figure: string | undefined): string => {
      const value = figure === undefined ? undefined : line.figures[figure]
      return value === undefined ? '' : shown(value)
    }
    return [{ way, orders: text(orders), p50: text(p50), p99: text(p99), bench, at: line.at }]
  })
}

export const fastPathText = (rows: readonly FastPathRow[]): string => `${JSON.stringify(rows, null, 2)}\n`
