/**
 * One test file in a process of its own: a plain program that says in TAP what it asserted. A file that ends badly
 * without saying so, or does not end, has failed once.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { ROOT } from './files.ts'

export interface Outcome {
  readonly file: string
  readonly seconds: number
  /** Assertions. */
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** All of its output. */
  readonly lines: readonly string[]
}

/** Seconds a file has to end in order after its time is over. */
const GRACE_SECONDS = 10

const running = new Set<ChildProcess>()

/** Ends a file with everything it started: each file leads a process group. */
function end(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Ends what still runs, before this process ends. */
export function endAll(): void {
  for (const child of running) end(child, 'SIGKILL')
}

/** Runs a file for at most so many seconds, with these variables beside those of this process. */
export async function runFile(
  file: string, environment: Record<string, string>, atMostSeconds: number, graceSeconds = GRACE_SECONDS,
): Promise<Outcome> {
  const started = performance.now()
  // tap would end a test after 30 s.
  const env = { ...process.env, TAP_TIMEOUT: String(atMostSeconds), ...environment }
  const args = ['--disable-warning=ExperimentalWarning', file]
  const child = spawn(process.execPath, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', (line) => lines.push(line))
  let late = false
  const bell = setTimeout(() => {
    late = true
    end(child, 'SIGTERM')
    setTimeout(() => end(child, 'SIGKILL'), graceSeconds * 1000).unref()
  }, (atMostSeconds + graceSeconds) * 1000)
  const closed = new Promise((resolve) => child.on('close', resolve))
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve))
  // What it left running would hold its outputs open and the cores busy.
  end(child, 'SIGKILL')
  await closed
  clearTimeout(bell)
  running.delete(child)
  if (late) lines.push(`not ok - ended after ${atMostSeconds} s`)
  return { file, seconds: (performance.now() - started) / 1000, ...count(lines, code === 0 && !late), lines }
}

/** What tap counted itself, in its last unindented summary. */
function count(lines: readonly string[], endedWell: boolean): Pick<Outcome, 'passed' | 'failed' | 'skipped'> {
  const summary = lines.findLast((line) => /^# \{ .* \}$/.test(line)) ?? ''
  const number = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary)?.[1] ?? 0)
  const [passed, failed] = [number('pass'), number('fail')]
  return { passed, failed: failed > 0 || (endedWell && passed + number('skip') > 0) ? failed : 1, skipped: number('skip') }
}
