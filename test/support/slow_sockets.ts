/** WebSockets that subscribe and stop reading, in a Python process: Node cannot make the kernel's buffers small (slow_sockets.py). */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'

/** What was left of the sockets: how many had ended, whole frames they had, and how many of them had a gap between two. */
export interface Leftover {
  readonly ended: number
  readonly frames: number
  readonly gaps: number
}

/** Sockets that a process may open beside its other files, `wanted` at most. Node and the script raise the soft limit to the hard one. */
export function socketsPossible(wanted: number): number {
  const hard = Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity)
  return Math.min(wanted, hard - 200)
}

export class SlowSockets {
  readonly #child: ChildProcess
  readonly #lines: Interface

  private constructor(python: string, words: readonly string[]) {
    this.#child = spawn(python, [join(import.meta.dirname, 'slow_sockets.py'), ...words], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout! })
  }

  /**
   * Opens `count` sockets that subscribe to the books of these pairs in turn, `times` each, and read no more. `python`: support/python.ts.
   */
  static async open(
    python: string, port: number, count: number, pairs: readonly string[], { from = '127.0.0.1', times = 1 } = {},
  ): Promise<SlowSockets> {
    const messages = pairs.map((tradingPairId) => JSON.stringify({ type: 'subscribe', channel: 'orderbook', params: { tradingPairId } }))
    const sockets = new SlowSockets(python, [String(port), String(count), from, String(times), ...messages])
    await sockets.#line()
    return sockets
  }

  /** Reads what each of them still has, to its end, and ends the process. */
  async read(): Promise<Leftover> {
    this.#child.stdin!.write('\n')
    return JSON.parse(await this.#line()) as Leftover
  }

  /** Ends the process, and with it all sockets. */
  stop(): void {
    this.#child.kill('SIGKILL')
  }

  /** The next line it prints; throws when it ends before. */
  #line(): Promise<string> {
    return new Promise((resolve, reject) => {
      const over = (code: number | null): void => reject(new Error(`slow_sockets.py ended with ${code}`))
      this.#child.once('exit', over)
      this.#lines.once('line', (line) => {
        this.#child.off('exit', over)
        resolve(line)
      })
    })
  }
}
