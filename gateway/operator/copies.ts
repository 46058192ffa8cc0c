/** Copy trading as a whole, for an operator: its switch, which is one command of lane 0 (core/programs/copy_program.ts). */
import Type from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { SET_COPY_PROGRAM_COMMAND } from '../../core/layout/copying.ts'
import { readCopyProgram } from '../../core/view/copying.ts'
import * as fields from '../operations/fields.ts'
import { field } from '../operations/schema.ts'
import { note, operatorRoute, SENDS, sendCommand } from './route.ts'

const copyTrading = field(Type.Boolean(), 'Whether copy trading is switched on.')
const onOff = (on: boolean): string => (on ? 'on' : 'off')

export const ShowCopyProgram = operatorRoute({
  method: 'GET', path: '/copies', token: true,
  summary: 'Copy trading: its switch, leaders and follows',
  description: 'Leaders whose handles were released count while they have their rows, and follows while they are being stopped.',
  output: Type.Object({
    copyTrading,
    leaders: field(Type.Integer(), 'Leaders.'), follows: field(Type.Integer(), 'Follows.'),
    stopping: field(Type.Integer(), 'Follows that are being stopped.'),
    waiting: field(Type.Integer(), 'Perpetuals of leaders on which something is not mirrored to everybody yet.'),
  }),
  refusals: [],
  example: { input: {}, output: { copyTrading: true, leaders: 12, follows: 340, stopping: 2, waiting: 1 } },
  commands: [{
    name: 'copies show',
    purpose: 'copy trading: its switch, leaders and follows',
    explains: 'Leaders whose handles were released count while they have their rows, and follows while they are being stopped.',
    example: ['copies show', 'copy trading is on: 12 leaders, 340 follows, 2 of them are being stopped; 1 fill is being mirrored'],
    show: ({ copyTrading: on, leaders, follows, stopping, waiting }) =>
      `copy trading is ${onOff(on)}: ${leaders} leaders, ${follows} follows, ${stopping} of them are being stopped; `
      + `${waiting} ${waiting === 1 ? 'fill is' : 'fills are'} being mirrored`,
  }],
  run: ({ state }) => {
    const { on, leaders, follows, stopping, waiting } = readCopyProgram(state)
    return { copyTrading: on, leaders, follows, stopping, waiting }
  },
})

export const SetCopyProgram = operatorRoute({
  method: 'POST', path: '/copies', token: true,
  summary: 'Switch copy trading off, or on again',
  description: 'While it is off nobody registers, follows, or makes a follow copy more (COPY_TRADING_OFF), and what leaders open is not '
    + 'mirrored, then or later. What they reduce is; stops and closes of copies go on.',
  body: Type.Object({ to: field(Type.Union([Type.Literal('on'), Type.Literal('off')]), 'on or off.') }),
  output: Type.Object({ copyTrading, sequence: fields.sequence }),
  refusals: SENDS,
  example: { input: { to: 'off' }, output: { copyTrading: false, sequence: 1042 } },
  commands: [{
    name: 'copies set', parameters: [{ field: 'to', typed: 'on|off' }],
    purpose: 'switch copy trading off, or on again',
    explains: 'Off: nobody registers, follows, or makes a follow copy more, and what leaders open is not mirrored, then or later. What\n'
      + 'they reduce is mirrored still; stops and closes of copies go on. It is in the journal and outlives a restart.',
    example: ['copies set off', 'copy trading is off (sequence 1042)'],
    show: ({ copyTrading: on, sequence }) => `copy trading is ${onOff(on)} (sequence ${sequence})`,
  }],
  run: (context, { to }) =>
    sendCommand(context, CommandType.SET_COPY_PROGRAM, SET_COPY_PROGRAM_COMMAND, { on: to === 'on' ? 1 : 0 }, ({ now, sequence }) => {
      note(context, `copy trading ${to}`, { sequence })
      return { copyTrading: now === 1, sequence: Number(sequence) }
    }),
})
