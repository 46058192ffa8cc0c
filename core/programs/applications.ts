/**
 * Applications: what frontends and backends of the exchange are known by. The operator makes and changes them, allows origins of their
 * pages and sets the hash of their server keys; the rows of the genesis stand first and are made with the state.
 *
 * Invariants: client ids are unique; origins of a row are distinct and stand from its first place on, the rest is zero; an old key has an
 * end. A key itself is never here, only its SHA-256. Rows are never taken back: an application that is over is made inactive, then
 * nobody signs in to it any more, and the sessions that are open go on.
 *
 * All of it comes through lane 0, as in policy.ts.
 */
import {
  gatewayOfKind, KEY_GRACE_MAX_MS, ORIGINS_MAX, SET_APPLICATION_COMMAND, SET_ORIGIN_COMMAND, SET_SERVER_KEY_COMMAND,
} from '../layout/command.ts'
import { APPLICATION_ANSWER, SERVER_KEY_ANSWER } from '../layout/answers.ts'
import { writeF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import {
  APPLICATION, APPLICATION_NAME_WORDS, CLIENT_ID_WORDS, KEY_WORDS, ORIGIN_WORDS, SCALAR,
} from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { areZero, sameWords } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { add, applicationRow, clearWords, get, getF64, now, originRow, sequence, set, setF64, setWords, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const A = SET_APPLICATION_COMMAND.at
const SPACE = 0x20
const LAST_VISIBLE = 0x7e
const DELETE = 0x7f
const LAST_BYTE = 0xff

/**
 * OPERATOR_ONLY unless the command came through lane 0; NOT_FOUND unless `application` is a row in use. Row 0 is always in use.
 */
function targetRefusal(state: State, command: Views, base: number, application: number): number {
  if (gatewayOfKind(command.u32[base]!) !== 0) return REFUSALS.OPERATOR_ONLY.number
  return application < 0 || application >= state.scalars[SCALAR.APPLICATIONS]! ? REFUSALS.NOT_FOUND.number : 0
}

/** At least one byte from `low` to `high` without DEL, then zeros to the end of the field. */
export function isText(bytes: Uint8Array, at: number, words: number, low: number, high: number): boolean {
  const [start, end] = [at * 4, (at + words) * 4]
  let length = 0
  while (start + length < end && bytes[start + length] !== 0) {
    const byte = bytes[start + length]!
    if (byte < low || byte > high || byte === DELETE) return false
    length++
  }
  for (let i = start + length; i < end; i++) if (bytes[i] !== 0) return false
  return length > 0
}

/**
 * A new application (-1) or another client id, name and state of one. APPLICATION_ANSWER. NOT_FOUND: no such row; VALIDATION_ERROR: empty
 * or unprintable text; CLIENT_ID_IN_USE: of another application; TOO_MANY_APPLICATIONS: all rows are taken.
 */
export function setApplication(state: State, command: Views, base: number): void {
  const { scalars } = state
  const given = command.i32[base + A.application]!
  const isNew = given === -1
  const code = targetRefusal(state, command, base, isNew ? 0 : given) || termsRefusal(state, command, base, given)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const application = isNew ? scalars[SCALAR.APPLICATIONS]!++ : given
  const row = applicationRow(state, application)
  if (isNew) {
    setF64(state, row, APPLICATION.CREATED_SEQUENCE, sequence(state))
    setF64(state, row, APPLICATION.CREATED_AT, now(state))
  }
  set(state, row, APPLICATION.ACTIVE, command.i32[base + A.active] === 0 ? 0 : 1)
  setWords(state, row, APPLICATION.CLIENT_ID, CLIENT_ID_WORDS, command.i32, base + A.clientId)
  setWords(state, row, APPLICATION.NAME, APPLICATION_NAME_WORDS, command.i32, base + A.name)
  add(state, row, APPLICATION.VERSION, 1)
  const at = emitResult(state, command, base, 0, -1, application, isNew ? 1 : 0)
  writeF64(state.outbox, at, APPLICATION_ANSWER.at.createdSequence, getF64(state, row, APPLICATION.CREATED_SEQUENCE))
}

function termsRefusal(state: State, command: Views, base: number, application: number): number {
  const { scalars, genesis } = state
  const texts = isText(command.bytes, base + A.clientId, CLIENT_ID_WORDS, SPACE, LAST_VISIBLE)
    && isText(command.bytes, base + A.name, APPLICATION_NAME_WORDS, SPACE, LAST_BYTE)
  if (!texts) return REFUSALS.VALIDATION_ERROR.number
  const used = scalars[SCALAR.APPLICATIONS]!
  for (let other = 0; other < used; other++) {
    const at = wordOf(applicationRow(state, other), APPLICATION.CLIENT_ID)
    if (other !== application && sameWords(state.i32, at, command.i32, base + A.clientId, CLIENT_ID_WORDS)) {
      return REFUSALS.CLIENT_ID_IN_USE.number
    }
  }
  return application === -1 && used >= genesis.limits.applications ? REFUSALS.TOO_MANY_APPLICATIONS.number : 0
}

/**
 * Allows or forbids one origin. One that is allowed already stays. ORIGIN_ANSWER: origins then allowed. NOT_FOUND: no
 * such row, or an origin to forbid that was not allowed; VALIDATION_ERROR: no visible ASCII; TOO_MANY_APPLICATIONS: all places are taken.
 */
export function setOrigin(state: State, command: Views, base: number): void {
  const { at } = SET_ORIGIN_COMMAND
  const application = command.i32[base + at.application]!
  let code = targetRefusal(state, command, base, application)
  if (code === 0 && !isText(command.bytes, base + at.origin, ORIGIN_WORDS, SPACE + 1, LAST_VISIBLE)) code = REFUSALS.VALIDATION_ERROR.number
  if (code === 0) {
    const allowed = command.i32[base + at.allowed] !== 0
    code = allowed ? addOrigin(state, application, command.i32, base + at.origin)
      : removeOrigin(state, application, command.i32, base + at.origin)
  }
  const count = code === 0 ? get(state, applicationRow(state, application), APPLICATION.ORIGINS) : 0
  emitResult(state, command, base, code, -1, code === 0 ? application : 0, count)
}

/** Place of an origin among those of the application, or -1. */
function placeOf(state: State, application: number, words: Int32Array, at: number): number {
  const count = get(state, applicationRow(state, application), APPLICATION.ORIGINS)
  for (let place = 0; place < count; place++) {
    if (sameWords(state.i32, originRow(state, application, place), words, at, ORIGIN_WORDS)) return place
  }
  return -1
}

function addOrigin(state: State, application: number, words: Int32Array, at: number): number {
  if (placeOf(state, application, words, at) >= 0) return 0
  const row = applicationRow(state, application)
  const place = get(state, row, APPLICATION.ORIGINS)
  if (place >= ORIGINS_MAX) return REFUSALS.TOO_MANY_APPLICATIONS.number
  setWords(state, originRow(state, application, place), 0, ORIGIN_WORDS, words, at)
  set(state, row, APPLICATION.ORIGINS, place + 1)
  add(state, row, APPLICATION.VERSION, 1)
  return 0
}

/** Those behind it move up, so that places in use stay together and the rest zero. */
function removeOrigin(state: State, application: number, words: Int32Array, at: number): number {
  const found = placeOf(state, application, words, at)
  if (found < 0) return REFUSALS.NOT_FOUND.number
  const row = applicationRow(state, application)
  const last = get(state, row, APPLICATION.ORIGINS) - 1
  for (let place = found; place < last; place++) {
    setWords(state, originRow(state, application, place), 0, ORIGIN_WORDS, state.i32, originRow(state, application, place + 1))
  }
  clearWords(state, originRow(state, application, last), 0, ORIGIN_WORDS)
  set(state, row, APPLICATION.ORIGINS, last)
  add(state, row, APPLICATION.VERSION, 1)
  return 0
}

/**
 * Another server key: the one in force becomes the old key and stays good for `graceMs` (0: ends now); an older one ends at once. An
 * all-zero hash ends both. SERVER_KEY_ANSWER. NOT_FOUND: no such row;
 * VALIDATION_ERROR: graceMs is no whole number from 0 to {@link KEY_GRACE_MAX_MS}.
 */
export function setServerKey(state: State, command: Views, base: number): void {
  const { at } = SET_SERVER_KEY_COMMAND
  const application = command.i32[base + at.application]!
  const graceMs = command.f64[(base + at.graceMs) >>> 1]!
  let code = targetRefusal(state, command, base, application)
  const known = Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= KEY_GRACE_MAX_MS
  if (code === 0 && !known) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const row = applicationRow(state, application)
  const ends = areZero(command.i32, base + at.hash, KEY_WORDS)
  const keepsOld = !ends && graceMs > 0 && !areZero(state.i32, wordOf(row, APPLICATION.KEY), KEY_WORDS)
  if (keepsOld) setWords(state, row, APPLICATION.OLD_KEY, KEY_WORDS, state.i32, wordOf(row, APPLICATION.KEY))
  else clearWords(state, row, APPLICATION.OLD_KEY, KEY_WORDS)
  const until = keepsOld ? now(state) + graceMs : 0
  setF64(state, row, APPLICATION.OLD_KEY_UNTIL, until)
  setWords(state, row, APPLICATION.KEY, KEY_WORDS, command.i32, base + at.hash)
  setF64(state, row, APPLICATION.KEY_AT, ends ? 0 : now(state))
  add(state, row, APPLICATION.VERSION, 1)
  const result = emitResult(state, command, base, 0, -1, application, 0)
  writeF64(state.outbox, result, SERVER_KEY_ANSWER.at.oldKeyUntil, until)
}

/** One of its accounts is no more. */
export function uncountAccount(state: State, application: number): void {
  add(state, applicationRow(state, application), APPLICATION.ACCOUNTS, -1)
}

/** One more account was made in it. */
export function countAccount(state: State, application: number): void {
  add(state, applicationRow(state, application), APPLICATION.ACCOUNTS, 1)
}

/** Why nobody may sign in to this application now: NOT_FOUND, APPLICATION_INACTIVE, or 0. */
export function applicationRefusal(state: State, application: number): number {
  if (application < 0 || application >= state.scalars[SCALAR.APPLICATIONS]!) return REFUSALS.NOT_FOUND.number
  return get(state, applicationRow(state, application), APPLICATION.ACTIVE) === 0 ? REFUSALS.APPLICATION_INACTIVE.number : 0
}
