/**
 * The clock: what sequenced time is beside the wall clock, and the operator's word that the wall clock is right (core/sequencer/clock.ts).
 */
import { ACCEPT_CLOCK_COMMAND, CommandType } from '../../core/layout/command.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Admin } from './admin.ts'
import type { Command } from './command.ts'
import { get, said } from './command.ts'
import { json, type Answer, type Handler } from './http.ts'
import { change } from './policy.ts'

export interface Clock {
  /** Times as RFC 3339. */
  readonly sequenced: string
  readonly wall: string
  /** How far sequenced time is behind the wall clock; negative: ahead. */
  readonly behindMs: number
  /** Jumps of the wall clock since the start. */
  readonly jumps: number
  /** Timers rest until the wall clock is accepted, or right. */
  readonly waits: boolean
}

export interface ClockRoutes {
  readonly show: Handler
  readonly accept: Handler
}

/** `matcher`: its block of counters. `time`: sequenced time. `tell`: messages to the main thread, for the log. */
export function createClockRoutes(
  matcher: Float64Array, time: () => number, admin: Admin, tell: (message: FromThread) => void,
): ClockRoutes {
  const look = (): Clock => ({
    sequenced: new Date(time()).toISOString(),
    wall: new Date().toISOString(),
    behindMs: Math.round(matcher[MATCHER.clock_behind_ms]!),
    jumps: matcher[MATCHER.clock_jumps]!,
    waits: matcher[MATCHER.clock_waits] === 1,
  })
  return {
    show: () => json(200, look()),
    accept: (): Promise<Answer> => {
      const before = look()
      return change(admin, CommandType.ACCEPT_CLOCK, ACCEPT_CLOCK_COMMAND, { wall: Date.now() }, ({ sequence }) => {
        tell({ type: 'log', level: 'warn', message: 'clock accepted', fields: { sequence, ...before } })
        return json(200, { ...look(), sequence })
      })
    },
  }
}

export const CLOCK_COMMANDS: readonly Command[] = [
  {
    name: 'clock show',
    parameters: [],
    purpose: 'sequenced time beside the wall clock',
    explains: 'Sessions, grants and orders expire by sequenced time. It advances by the monotonic clock and follows the wall clock\n'
      + 'slowly: a wall clock that jumps moves nothing, and is counted here.',
    example: ['clock show', 'sequenced time is 0.000 s behind the wall clock, which jumped 0 times'],
    run: async (ask) => {
      const clock = await get<Clock>(ask, '/clock')
      return { ...said(clock, textOf(clock)), good: !clock.waits }
    },
  },
  {
    name: 'clock accept',
    parameters: [],
    purpose: 'go on from the wall clock of this machine, which is right',
    explains: 'For a start that says CLOCK_WAITS (ready): the wall clock is further from the last command of the journal than\n'
      + '--clock-gap-seconds, so timers rest. Check the date of the machine first. What expired by it ends: orders, sessions, grants.\n'
      + 'Sequenced time never goes back: with a wall clock that is behind, it goes on from where it is.\n'
      + 'Also for an exchange that runs, after its machine stood still. It is in the journal.',
    example: ['clock accept', 'sequenced time is 0.000 s behind the wall clock, which jumped 0 times (sequence 1042)'],
    run: async (ask) => {
      const clock = await get<Clock & { sequence: number }>(ask, '/clock/accept', {})
      return said(clock, `${textOf(clock)} (sequence ${clock.sequence})`)
    },
  },
]

const textOf = ({ behindMs, jumps, waits }: Clock): string =>
  `sequenced time is ${(Math.abs(behindMs) / 1000).toFixed(3)} s ${behindMs < 0 ? 'ahead of' : 'behind'} the wall clock, which jumped `
  + `${jumps} times${waits ? '; TIMERS REST until the wall clock is accepted' : ''}`
