/** `diff A B`: the first command in which two journals differ, in what was asked or in what came of it. */
import { stateDigest } from '../snapshot/state_digest.ts'
import { openSource, printable } from './steps.ts'

export interface Difference {
  /** Null: one is a prefix of the other, or they are equal. */
  readonly sequence: number | null
  readonly what: string
  readonly a?: Record<string, unknown>
  readonly b?: Record<string, unknown>
}

/** `archives`: those of A and B, if they have any; one alone is both's. */
export function diff(dirA: string, dirB: string, archives: readonly string[] = []): Difference {
  const a = openSource(dirA, 0, archives[0])
  const b = openSource(dirB, 0, archives[1] ?? archives[0])
  for (;;) {
    const left = a.steps.next()
    const right = b.steps.next()
    if (left.done === true || right.done === true) {
      if (left.done !== right.done) {
        const sequence = ((left.done === true ? right : left).value as { sequence: number }).sequence
        return { sequence: null, what: `${left.done === true ? 'A' : 'B'} ends before sequence ${sequence}; up to there they are equal` }
      }
      const same = stateDigest(a.replayer.state) === stateDigest(b.replayer.state)
      return {
        sequence: null,
        what: same ? 'equal: same commands, same events, same digest' : 'same commands and events, but DIFFERENT DIGESTS',
      }
    }
    const what = differs(left.value, right.value)
    if (what !== null) return { sequence: left.value.sequence, what, a: printable(left.value), b: printable(right.value) }
  }
}

function differs(
  a: { time: number; command: Buffer; events: Buffer },
  b: { time: number; command: Buffer; events: Buffer },
): string | null {
  if (!a.command.equals(b.command)) return 'other commands'
  if (a.time !== b.time) return 'same command at another time'
  return a.events.equals(b.events) ? null : 'same command, other events'
}
