/**
 * Which files a suite has, and in what order.
 *
 * A file's name says its suite: `*.test.ts` is run by `npm test`, `*.deep.ts` only by `npm run test:deep`. A
 * `*.test.ts` that asks `suite/rounds.ts` how long it should go on is in both: short in the one, long in the other.
 * A line ` * Alone: why` in a file's first comment keeps other files from running beside it; so does the folder
 * `security/attacks/`, whose ratios want both cores.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createPrng } from '../../core/lib/prng.ts'

export const ROOT = join(import.meta.dirname, '..', '..')

/** A share of the files, the k-th of n; k from 1 on. */
export interface Share {
  readonly k: number
  readonly n: number
}

const found = (pattern: string): string[] =>
  globSync(['', '*/', '*/*/'].map((folder) => `test/${folder}${pattern}`), { cwd: ROOT }).sort()

const source = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8')

/** Files of `npm test`, sorted. */
export const quickFiles = (): string[] => found('*.test.ts')

const ASKS = /from '[./]+\/suite\/rounds\.ts'/
/** Files of `npm run test:deep`, sorted. */
export const deepFiles = (): string[] =>
  [...found('*.deep.ts'), ...quickFiles().filter((file) => ASKS.test(source(file)))].sort()

/** Whether nothing else may run beside this file. */
export const isAlone = (file: string): boolean =>
  file.includes('security/attacks/') || /^ \* Alone: \S/m.test(source(file))

/** The k-th of n shares: every n-th of the sorted files. */
export const shareOf = (files: readonly string[], { k, n }: Share): string[] =>
  files.filter((_, at) => at % n === k - 1)

/** The files in an order that the seed alone decides, so that a run that ends early has others each time. */
export function shuffled<T>(files: readonly T[], seed: number): T[] {
  const random = createPrng(seed)
  const order = [...files]
  for (let at = order.length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    ;[order[at], order[other]] = [order[other]!, order[at]!]
  }
  return order
}
