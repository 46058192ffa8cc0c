/**
 * The engine of this tree and that of another checkout, in turn, in the same run: `npm run bench -- core --against DIR`.
 *
 * Each tree has a process of its own on the same Node, with its own modules, its own flow (the same orders; the layout of a record
 * may differ) and threads started by its own `startQuickThread`. A turn is a fresh thread of the one and a fresh thread of the other,
 * so that two ways of being compiled are not taken for two engines; the one that goes first changes from turn to turn, and only one
 * works at a time. The figure is the median of the ratios of the turns, with the least and the largest: what moves both within some
 * seconds moves the ratio little, and a spread wider than what is asked for means the run says nothing.
 */
import { fork, execFileSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { median, type Result } from '../result.ts'
import type { CoreOptions } from './core.ts'
import type { Asked, Timed } from './tree_process.ts'

/** Slower than the other tree by this is too slow. */
const MOST = 1.1

interface Shape {
  readonly name: string
  readonly turns: number
  readonly options: CoreOptions
}

const SHAPES: readonly Shape[] = [
  { name: 'core', turns: 9, options: { live: 10_000, accounts: 1000, timed: 1_000_000, rounds: 5 } },
  { name: 'core-large', turns: 5, options: { live: 1_000_000, accounts: 100_000, timed: 1_000_000, rounds: 3 } },
]

class Tree {
  readonly #child: ChildProcess

  constructor(directory: string) {
    const execArgv = ['--disable-warning=ExperimentalWarning']
    this.#child = fork(join(import.meta.dirname, 'tree_process.ts'), [directory], { execArgv, cwd: directory, serialization: 'advanced' })
  }

  ask<Answer>(asked: Asked): Promise<Answer> {
    return new Promise((done, failed) => {
      const ended = (code: number | null): void => failed(new Error(`the process of a tree ended with ${code}`))
      this.#child.once('exit', ended)
      this.#child.once('message', (answer) => {
        this.#child.off('exit', ended)
        done(answer as Answer)
      })
      this.#child.send(asked)
    })
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Turns of both trees, [this, the other]. */
async function takeTurns(name: string, directories: readonly string[], turns: number, options: CoreOptions): Promise<Timed[][]> {
  const trees = directories.map((directory) => new Tree(directory))
  const timed: Timed[][] = [[], []]
  try {
    for (const tree of trees) await tree.ask({ do: 'flow', options })
    for (let turn = 0; turn < turns; turn++) {
      for (const which of turn % 2 === 0 ? [0, 1] : [1, 0]) timed[which]!.push(await trees[which]!.ask<Timed>({ do: 'time' }))
      const [mine, others] = timed.map((all) => median(all.at(-1)!.rounds))
      console.log(`  ${name}, turn ${turn + 1} of ${turns}: ${mine!.toFixed(1)} ns, the other ${others!.toFixed(1)} ns, ` +
        `ratio ${(mine! / others!).toFixed(3)}`)
    }
  } finally {
    for (const tree of trees) tree.stop()
  }
  return timed
}

/** Without those that the other tree does not know how to measure. */
const known = (figures: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(figures).filter(([, value]) => !Number.isNaN(value)))

function figuresOf(name: string, [mine, others]: readonly Timed[][]): Record<string, number> {
  const ns = (timed: Timed): number => median(timed.rounds)
  const ratios = mine!.map((timed, turn) => ns(timed) / ns(others![turn]!))
  const most = (all: readonly Timed[], of: (timed: Timed) => number): number => Math.max(...all.map(of))
  const [a, b] = [mine![0]!, others![0]!]
  return known({
    [`${name}, ns a command by that of the other`]: median(ratios),
    [`${name}, least ratio of a turn`]: Math.min(...ratios),
    [`${name}, largest ratio of a turn`]: Math.max(...ratios),
    [`${name}, ns a command`]: median(mine!.map(ns)),
    [`${name}, ns a command, the other`]: median(others!.map(ns)),
    [`${name}, collections per million, most of a turn`]: most(mine!, (timed) => timed.collections),
    [`${name}, collections per million, the other`]: most(others!, (timed) => timed.collections),
    [`${name}, bytes a command, most of a turn`]: most(mine!, (timed) => timed.bytes),
    [`${name}, bytes a command, the other`]: most(others!, (timed) => timed.bytes),
    // Else the trees decide differently, and the ratio compares different work.
    [`${name}, same fills and live orders`]: a.fills === b.fills && a.live === b.live ? 1 : 0,
  })
}

function commitOf(directory: string): string {
  const git = (...args: string[]): string => execFileSync('git', ['-C', directory, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' and changes')
  } catch {
    return 'unknown'
  }
}

/** `small` and `large` choose flows, `turns` overrides how many turns each takes. */
export async function run({ against, turns, flow }: { against: string; turns?: number; flow?: string }): Promise<Result> {
  const directories = [join(import.meta.dirname, '..', '..'), resolve(against)]
  if (!existsSync(join(directories[1]!, 'bench', 'micro', 'core.ts'))) throw new Error('--against wants the root of a checkout')
  const shapes = SHAPES.filter(({ name }) => flow === undefined || name === (flow === 'large' ? 'core-large' : 'core'))
  const figures: Record<string, number> = {}
  for (const { name, turns: usual, options } of shapes) {
    Object.assign(figures, figuresOf(name, await takeTurns(name, directories, turns ?? usual, options)))
  }
  return {
    name: 'core-against: the engine of this tree by that of another',
    settings: {
      this: commitOf(directories[0]!),
      other: commitOf(directories[1]!),
      ...Object.fromEntries(shapes.map(({ name, turns: usual, options }) => [
        name,
        `${turns ?? usual} turns of ${options.rounds} rounds of ${options.timed} commands each, ${options.live} live orders, ` +
          `${options.accounts} accounts`,
      ])),
    },
    figures,
    targets: shapes.flatMap(({ name }) => [
      { figure: `${name}, ns a command by that of the other`, atMost: MOST, unit: 'times' },
      { figure: `${name}, collections per million, most of a turn`, atMost: 0, unit: 'collections' },
      { figure: `${name}, bytes a command, most of a turn`, atMost: 0.01, unit: 'bytes' },
    ]),
  }
}
