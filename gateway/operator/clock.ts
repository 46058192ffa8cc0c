/**
 * The clock: what sequenced time is beside the wall clock, and the operator's word that the wall clock is right
 * (core/sequencer/clock.ts).
 */
import Type, { type Static } from 'typebox'
import { ACCEPT_CLOCK_COMMAND, CommandType } from '../../core/layout/command.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import * as fields from '../operations/fields.ts'
import { Timestamp } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'

const CLOCK = {
  sequenced: field(Timestamp, 'Sequenced time: what sessions, grants and orders expire by.'),
  wall: field(Timestamp, 'The wall clock of the machine.'),
  behindMs: field(Type.Integer(), 'How far sequenced time is behind the wall clock, milliseconds; negative: ahead.'),
  jumps: field(Type.Integer(), 'Jumps of the wall clock since the start.'),
  waits: field(Type.Boolean(), 'Whether timers rest until the wall clock is accepted, or right.'),
}
const Clock = Type.Object(CLOCK)
type Clock = Static<typeof Clock>

const EXAMPLE: Clock = {
  sequenced: '2026-01-02T03:04:05.678Z', wall: '2026-01-02T03:04:05.678Z', behindMs: 0, jumps: 0, waits: false,
}

const look = ({ gauges: { matcher }, time }: OperatorContext): Clock => ({
  sequenced: new Date(time()).toISOString(),
  wall: new Date().toISOString(),
  behindMs: Math.round(matcher[MATCHER.clock_behind_ms]!),
  jumps: matcher[MATCHER.clock_jumps]!,
  waits: matcher[MATCHER.clock_waits] === 1,
})

const textOf = ({ behindMs, jumps, waits }: Clock): string =>
  `sequenced time is ${(Math.abs(behindMs) / 1000).toFixed(3)} s ${behindMs < 0 ? 'ahead of' : 'behind'} the wall clock, which jumped `
  + `${jumps} times${waits ? '; TIMERS REST until the wall clock is accepted' : ''}`

export const ShowClock = operatorRoute({
  method: 'GET', path: '/clock', token: false,
  summary: 'Sequenced time beside the wall clock',
  description: 'Sequenced time advances by the monotonic clock and follows the wall clock slowly.',
  output: Clock,
  refusals: [],
  example: { input: {}, output: EXAMPLE },
  commands: [{
    name: 'clock show',
    purpose: 'sequenced time beside the wall clock',
    explains: 'Sessions, grants and orders expire by sequenced time. It advances by the monotonic clock and follows the wall clock\n'
      + 'slowly: a wall clock that jumps moves nothing, and is counted here.',
    example: ['clock show', 'sequenced time is 0.000 s behind the wall clock, which jumped 0 times'],
    show: textOf,
    good: ({ waits }) => !waits,
  }],
  run: look,
})

export const AcceptClock = operatorRoute({
  method: 'POST', path: '/clock/accept', token: true,
  summary: 'Go on from the wall clock of this machine, which is right',
  description: 'For a start that says CLOCK_WAITS, and after the machine stood still. Sequenced time never goes back.',
  body: Type.Object({}),
  output: Type.Object({ ...CLOCK, sequence: fields.sequence }),
  refusals: SENDS,
  example: { input: {}, output: { ...EXAMPLE, sequence: 1042 } },
  commands: [{
    name: 'clock accept',
    purpose: 'go on from the wall clock of this machine, which is right',
    explains: 'For a start that says CLOCK_WAITS (ready): the wall clock is further from the last command of the journal than\n'
      + '--clock-gap-seconds, so timers rest. Check the date of the machine first. What expired by it ends: orders, sessions, grants.\n'
      + 'Sequenced time never goes back: with a wall clock that is behind, it goes on from where it is.\n'
      + 'Also for an exchange that runs, after its machine stood still. It is in the journal.',
    example: ['clock accept', 'sequenced time is 0.000 s behind the wall clock, which jumped 0 times (sequence 1042)'],
    show: (clock) => `${textOf(clock)} (sequence ${clock.sequence})`,
  }],
  run: (context) => {
    const before = look(context)
    return sendCommand(context, CommandType.ACCEPT_CLOCK, ACCEPT_CLOCK_COMMAND, { wall: Date.now() }, (answer) => {
      const sequence = Number(answer.sequence)
      note(context, 'clock accepted', { sequence, ...before })
      return { ...look(context), sequence }
    })
  },
})
