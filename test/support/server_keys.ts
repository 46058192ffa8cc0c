/** Server keys of applications behind the loopback matcher, made as the operator's port makes them and written apart from it. */
import { createHash, randomBytes } from 'node:crypto'
import { CommandType, SET_SERVER_KEY_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Harness } from './gateway_harness.ts'

export const newServerKey = (): string => `sk_${randomBytes(32).toString('base64url')}`
export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** Sets a new server key of the application in this row and returns it; the one before stays good for `graceMs`. */
export async function giveServerKey(harness: Harness, application = 0, graceMs = 0, key = newServerKey()): Promise<string> {
  const values = { session: -1, application, graceMs, hash: hashOfKey(key) }
  const result = await harness.operate(CommandType.SET_SERVER_KEY, SET_SERVER_KEY_COMMAND, values)
  if (result[RESULT.at.code] !== 0) throw new Error(`no server key: ${result[RESULT.at.code]}`)
  return key
}

/** Ends the keys of the application in this row. */
export const endServerKeys = (harness: Harness, application = 0): Promise<Int32Array> =>
  harness.operate(CommandType.SET_SERVER_KEY, SET_SERVER_KEY_COMMAND, { session: -1, application, graceMs: 0, hash: '00'.repeat(32) })
