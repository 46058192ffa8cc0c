/**
 * Promise: applications, their origins and their server keys are exactly those of the naive exchange after every command, as events and as
 * gateways read them; nobody but the operator changes them, and nobody signs in to one that is not active.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { duelApplications } from '../support/applications_duel.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const commands = Number(process.env['COMMANDS'] ?? 6000)
t.comment(`SEED=${seed} COMMANDS=${commands} npm test -- test/property/applications_equal_naive.test.ts`)

t.test('a new stream every time', async (t) => {
  t.doesNotThrow(() => duelApplications({ seed, commands }))
})

t.test('the stream meets every refusal', async (t) => {
  const seen = duelApplications({ seed: 7, commands: 6000 })
  const { OPEN_SESSION, SET_APPLICATION, SET_ORIGIN, SET_SERVER_KEY } = CommandType
  const expected: [type: CommandType, codes: number[]][] = [
    [OPEN_SESSION, [0, 116, 120, 600]], [SET_APPLICATION, [0, 117, 200, 315, 316, 600]], [SET_ORIGIN, [0, 117, 200, 316, 600]],
    [SET_SERVER_KEY, [0, 117, 200, 600]],
  ]
  for (const [type, codes] of expected) for (const code of codes) t.ok(seen.has(`${type} ${code}`), `command ${type}: ${code}`)
})
