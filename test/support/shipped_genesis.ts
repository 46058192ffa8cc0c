/** The shipped genesis document, for tests that change it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ShippedGenesis {
  limits: Record<string, number>
  assets: Record<string, unknown>[]
  pairs: ({ symbol: string; perp?: object } & Record<string, unknown>)[]
  applications: Record<string, unknown>[]
}

/** Its spot pairs only: perpetuals need more ticks than most tests have. `perpetuals`: all pairs. */
export function shippedGenesis(perpetuals = false): ShippedGenesis {
  const path = join(import.meta.dirname, '..', '..', 'data', 'genesis', 'genesis.json')
  const document = JSON.parse(readFileSync(path, 'utf8')) as ShippedGenesis
  if (!perpetuals) document.pairs = document.pairs.filter(({ perp }) => perp === undefined)
  return document
}
