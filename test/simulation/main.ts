/** `npm run simulate`: runs the simulation. Exit code 0: nothing was wrong; 1: something was; 2: the call was wrong. */
import { parseArgs } from 'node:util'
import { again, simulate, trial, TURNS } from './simulate.ts'

const HELP = `The exchange on a simulated machine: clients that retry, crashes between write, sync, apply and answer,
torn and lost pages, full rings, clocks that jump. After each crash everything that was acknowledged must be there, once, to the atom.

  npm run simulate [-- --seed N] [--seeds N] [--seconds N | --minutes N] [--turns N] [--counts]

  --seed N      the first seed; without it a new one, printed. The same seed is the same run
  --seeds N     so many seeds, one after the other (default 1; with a time: as many as go)
  --seconds N   begins no further seed after this time; --minutes N likewise
  --turns N     turns of each run (default ${TURNS}); a turn is one batch at most
  --counts      prints what happened in each run: crashes by place, refusals by number
  --help        this text

A run that fails prints what is wrong, the shortest run of its seed that a few tries found, and the line that runs it again.
test/README.md says how it works and how to add a fault.
`

interface Call {
  readonly seed: number
  readonly seeds: number
  readonly ms: number
  readonly turns: number
  readonly counts: boolean
}

/** What was asked for; `null`: help. Throws TypeError. */
function called(args: string[]): Call | null {
  const number = { type: 'string' } as const
  const options = { seed: number, seeds: number, seconds: number, minutes: number, turns: number } as const
  const { values } = parseArgs({ args, options: { ...options, counts: { type: 'boolean' }, help: { type: 'boolean' } } })
  if (values.help === true) return null
  const whole = (name: keyof typeof options, otherwise: number): number => {
    const value = values[name] ?? String(otherwise)
    if (!/^\d{1,10}$|^Infinity$/.test(value)) throw new TypeError(`--${name} must be a whole number`)
    return Number(value)
  }
  const timed = values.seconds !== undefined || values.minutes !== undefined
  const seconds = timed ? whole('seconds', 0) + 60 * whole('minutes', 0) : Infinity
  return {
    seed: whole('seed', Date.now() % 1_000_000), seeds: whole('seeds', timed ? Infinity : 1), ms: seconds * 1000,
    turns: whole('turns', TURNS), counts: values.counts === true,
  }
}

function run({ seed, seeds, ms, turns, counts }: Call): number {
  const ends = performance.now() + ms
  let done = 0
  for (; done < seeds && performance.now() < ends; done++) {
    const failure = trial(seed + done, turns)
    if (failure !== null) {
      console.log(`VIOLATION with seed ${failure.seed}, found with ${failure.turns} turns: ${failure.message}\nagain: ${again(failure)}`)
      return 1
    }
    if (counts) console.log(JSON.stringify({ seed: seed + done, ...simulate(seed + done, turns) }, null, 2))
  }
  console.log(`nothing is wrong: ${done} runs of ${turns} turns, seeds ${seed} to ${seed + done - 1}`)
  return 0
}

try {
  const call = called(process.argv.slice(2))
  if (call === null) console.log(HELP)
  else process.exitCode = run(call)
} catch (error) {
  if (!(error instanceof TypeError)) throw error
  console.error(`${error.message.split('. ')[0]}. Try --help`)
  process.exitCode = 2
}
