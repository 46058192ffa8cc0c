/**
 * Runs files side by side, as many as there are lanes, and then one by one those that must be alone. After the
 * deadline no file is begun; both kinds have their part of the time.
 */
import { isAlone } from './files.ts'
import { runFile, type Outcome } from './run_file.ts'

export interface Plan {
  readonly files: readonly string[]
  readonly lanes: number
  readonly environment: Record<string, string>
  /** Seconds one file may take. */
  readonly fileSeconds: number
  /** Seconds for all; Infinity: none is left out. */
  readonly seconds: number
}

/** Runs all, or those for which there is time; calls `done` after each. Resolves with those that were not begun. */
export async function runAll(plan: Plan, done: (outcome: Outcome) => void): Promise<string[]> {
  const alone = plan.files.filter((file) => plan.lanes === 1 || isAlone(file))
  const together = plan.files.filter((file) => !alone.includes(file))
  const began = performance.now()
  const turns = alone.length + together.length / plan.lanes
  const run = (left: string[], lanes: number, ends: number): Promise<unknown> => {
    const lane = async (): Promise<void> => {
      while (left.length > 0 && performance.now() < ends) {
        // What is left of the time is divided among what is left of the files; one that asks for its rounds keeps to its part.
        const part = ((ends - performance.now()) / 1000 / left.length) * Math.min(lanes, left.length)
        const limits: Record<string, string> = ends === Infinity ? {} : { SUITE_SECONDS: String(Math.ceil(part)) }
        done(await runFile(left.shift()!, { ...plan.environment, ...limits }, plan.fileSeconds))
      }
    }
    return Promise.all(Array.from({ length: lanes }, lane))
  }
  await run(together, plan.lanes, began + plan.seconds * 1000 * (together.length / plan.lanes / (turns || 1)))
  await run(alone, 1, began + plan.seconds * 1000)
  return [...together, ...alone]
}
