/**
 * Limits, for an operator: what they are, what they are from the next start on, and raising one
 * (core/programs/limits.ts).
 */
import Type from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { RAISABLE, RAISE_LIMIT_COMMAND } from '../../core/layout/limits.ts'
import { LIMIT, LIMIT_WORDS } from '../../core/state/columns.ts'
import * as fields from '../operations/fields.ts'
import { field } from '../operations/schema.ts'
import { note, operatorRoute, SENDS, sendCommand } from './route.ts'
import { count, table } from './text.ts'

const now = field(Type.Integer(), 'What it is now.')
const next = field(Type.Integer(), 'What it is from the next start on.')
/** The limits there are; which of them, `run` looks up by name. */
const LimitName = Type.Enum(RAISABLE.map(([name]) => name))

export const ListLimits = operatorRoute({
  method: 'GET', path: '/limits', token: false,
  summary: 'The limits that can be raised',
  description: 'Now, from the next start on, and at most.',
  output: Type.Object({
    limits: field(Type.Array(Type.Object({
      limit: field(Type.String(), 'Its name.'), now, next, most: field(Type.Integer(), 'What it can be at most.'),
    })), 'The limits.'),
  }),
  refusals: [],
  example: { input: {}, output: { limits: [{ limit: 'accounts', now: 131_072, next: 262_144, most: 16_777_216 }] } },
  commands: [{
    name: 'limits list',
    purpose: 'the limits that can be raised: now, from the next start on, and at most',
    explains: 'How full each pool is, is told by pools.',
    example: ['limits list', 'LIMIT         NOW  NEXT START        MOST\naccounts  131,072     262,144  16,777,216'],
    show: ({ limits }) => table(
      ['LIMIT', 'NOW', 'NEXT START', 'MOST'], limits.map(({ limit, now, next, most }) => [limit, now, next, most]),
    ),
  }],
  run: ({ state }) => ({
    limits: RAISABLE.map(([limit, most], index) => {
      const now = state.genesis.limits[limit]
      return { limit, now, next: Math.max(now, state.limits[index * LIMIT_WORDS + LIMIT.NEXT]!), most }
    }),
  }),
})

export const RaiseLimit = operatorRoute({
  method: 'POST', path: '/limits/raise', token: true,
  summary: 'Raise a limit from the next start on, for good',
  description: 'A limit is never lowered, and all of them together must fit the memory that the engine can have.',
  body: Type.Object({
    limit: field(LimitName, 'Its name.'),
    value: field(Type.Integer({ minimum: 0, maximum: 2 ** 48 - 1 }), 'What it shall be.'),
  }),
  output: Type.Object({
    limit: field(Type.String(), 'Its name.'), now, next, before: field(Type.Integer(), 'What it would have been from the next start on.'),
    sequence: fields.sequence,
  }),
  refusals: [...SENDS, 'LIMIT_NOT_RAISED', 'LIMIT_TOO_LARGE'],
  example: {
    input: { limit: 'accounts', value: 262_144 },
    output: { limit: 'accounts', now: 131_072, next: 262_144, before: 131_072, sequence: 1042 },
  },
  commands: [{
    name: 'limits raise',
    parameters: [{ field: 'limit', typed: 'LIMIT' }, { field: 'value', typed: 'VALUE', must: 'a whole number' }],
    purpose: 'raise a limit from the next start on, for good',
    explains: 'LIMIT is one of limits list. It is in the journal; the next start makes the room, says so in the journal too, and what was\n'
      + 'decided before stays decided under the old limit. A limit is never lowered, and all of them together must fit the 8 GiB that\n'
      + 'the engine can have; memory is taken as rows are used.',
    example: ['limits raise accounts 262144', 'accounts is 131,072 and will be 262,144 after the next start (sequence 1042)'],
    show: ({ limit, now, next, sequence }) =>
      `${limit} is ${count(now)} and will be ${count(next)} after the next start (sequence ${sequence})`,
  }],
  run: (context, { limit, value }) => {
    const index = RAISABLE.findIndex(([name]) => name === limit)
    return sendCommand(context, CommandType.RAISE_LIMIT, RAISE_LIMIT_COMMAND, { limit: index, value }, (answer) => {
      const [name] = RAISABLE[index]!
      const now = context.state.genesis.limits[name]
      const said = { limit: name, now, next: value, before: Number(answer.before), sequence: Number(answer.sequence) }
      note(context, 'raise limit', said)
      return said
    })
  },
})
