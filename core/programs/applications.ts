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
import type { Views } from '../layout/table.ts'
import {
  APPLICATION, APPLICATION_NAME_WORDS, APPLICATION_WORDS, CLIENT_ID_WORDS, CLOCK, KEY_WORDS, ORIGIN_WORDS, SCALAR,
} from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { sameWords } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
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

const copyWords = (to: Int32Array, at: number, from: Int32Array, base: number, words: number): void => {
  for (let word = 0; word < words; word++) to[at + word] = from[base + word]!
}

/**
 * A new application (-1) or another client id, name and state of one. APPLICATION_ANSWER. NOT_FOUND: no such row; VALIDATION_ERROR: empty
 * or unprintable text; CLIENT_ID_IN_USE: of another application; TOO_MANY_APPLICATIONS: all rows are taken.
 */
export function setApplication(state: State, command: Views, base: number): void {
  const { scalars, applications, applicationsF64, clock } = state
  const given = command.i32[base + A.application]!
  const isNew = given === -1
  const code = targetRefusal(state, command, base, isNew ? 0 : given) || termsRefusal(state, command, base, given)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const application = isNew ? scalars[SCALAR.APPLICATIONS]!++ : given
  const row = application * APPLICATION_WORDS
  if (isNew) {
    applicationsF64[(row + APPLICATION.CREATED_SEQUENCE) >>> 1] = clock[CLOCK.SEQUENCE]!
    applicationsF64[(row + APPLICATION.CREATED_AT) >>> 1] = clock[CLOCK.TIME]!
  }
  applications[row + APPLICATION.ACTIVE] = command.i32[base + A.active] === 0 ? 0 : 1
  copyWords(applications, row + APPLICATION.CLIENT_ID, command.i32, base + A.clientId, CLIENT_ID_WORDS)
  copyWords(applications, row + APPLICATION.NAME, command.i32, base + A.name, APPLICATION_NAME_WORDS)
  applications[row + APPLICATION.VERSION]!++
  const at = emitResult(state, command, base, 0, -1, application, isNew ? 1 : 0)
  state.outbox.f64[(at + APPLICATION_ANSWER.at.createdSequence) >>> 1] = applicationsF64[(row + APPLICATION.CREATED_SEQUENCE) >>> 1]!
}

function termsRefusal(state: State, command: Views, base: number, application: number): number {
  const { scalars, applications, genesis } = state
  const texts = isText(command.bytes, base + A.clientId, CLIENT_ID_WORDS, SPACE, LAST_VISIBLE)
    && isText(command.bytes, base + A.name, APPLICATION_NAME_WORDS, SPACE, LAST_BYTE)
  if (!texts) return REFUSALS.VALIDATION_ERROR.number
  const used = scalars[SCALAR.APPLICATIONS]!
  for (let other = 0; other < used; other++) {
    const at = other * APPLICATION_WORDS + APPLICATION.CLIENT_ID
    if (other !== application && sameWords(applications, at, command.i32, base + A.clientId, CLIENT_ID_WORDS)) {
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
  const count = code === 0 ? state.applications[application * APPLICATION_WORDS + APPLICATION.ORIGINS]! : 0
  emitResult(state, command, base, code, -1, code === 0 ? application : 0, count)
}

/** Place of an origin among those of the application, or -1. */
function placeOf(state: State, application: number, words: Int32Array, at: number): number {
  const count = state.applications[application * APPLICATION_WORDS + APPLICATION.ORIGINS]!
  for (let place = 0; place < count; place++) {
    if (sameWords(state.origins, (application * ORIGINS_MAX + place) * ORIGIN_WORDS, words, at, ORIGIN_WORDS)) return place
  }
  return -1
}

function addOrigin(state: State, application: number, words: Int32Array, at: number): number {
  if (placeOf(state, application, words, at) >= 0) return 0
  const row = application * APPLICATION_WORDS
  const place = state.applications[row + APPLICATION.ORIGINS]!
  if (place >= ORIGINS_MAX) return REFUSALS.TOO_MANY_APPLICATIONS.number
  copyWords(state.origins, (application * ORIGINS_MAX + place) * ORIGIN_WORDS, words, at, ORIGIN_WORDS)
  state.applications[row + APPLICATION.ORIGINS] = place + 1
  state.applications[row + APPLICATION.VERSION]!++
  return 0
}

/** Those behind it move up, so that places in use stay together and the rest zero. */
function removeOrigin(state: State, application: number, words: Int32Array, at: number): number {
  const found = placeOf(state, application, words, at)
  if (found < 0) return REFUSALS.NOT_FOUND.number
  const row = application * APPLICATION_WORDS
  const last = state.applications[row + APPLICATION.ORIGINS]! - 1
  const first = application * ORIGINS_MAX * ORIGIN_WORDS
  state.origins.copyWithin(first + found * ORIGIN_WORDS, first + (found + 1) * ORIGIN_WORDS, first + (last + 1) * ORIGIN_WORDS)
  state.origins.fill(0, first + last * ORIGIN_WORDS, first + (last + 1) * ORIGIN_WORDS)
  state.applications[row + APPLICATION.ORIGINS] = last
  state.applications[row + APPLICATION.VERSION]!++
  return 0
}

/**
 * Another server key: the one in force becomes the old key and stays good for `graceMs` (0: ends now); an older one ends at once. An
 * all-zero hash ends both. SERVER_KEY_ANSWER. NOT_FOUND: no such row;
 * VALIDATION_ERROR: graceMs is no whole number from 0 to {@link KEY_GRACE_MAX_MS}.
 */
export function setServerKey(state: State, command: Views, base: number): void {
  const { at } = SET_SERVER_KEY_COMMAND
  const { applications, applicationsF64, clock } = state
  const application = command.i32[base + at.application]!
  const graceMs = command.f64[(base + at.graceMs) >>> 1]!
  let code = targetRefusal(state, command, base, application)
  const known = Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= KEY_GRACE_MAX_MS
  if (code === 0 && !known) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const row = application * APPLICATION_WORDS
  const ends = isZero(command.i32, base + at.hash, KEY_WORDS)
  const keepsOld = !ends && graceMs > 0 && !isZero(applications, row + APPLICATION.KEY, KEY_WORDS)
  if (keepsOld) copyWords(applications, row + APPLICATION.OLD_KEY, applications, row + APPLICATION.KEY, KEY_WORDS)
  else applications.fill(0, row + APPLICATION.OLD_KEY, row + APPLICATION.OLD_KEY + KEY_WORDS)
  const until = keepsOld ? clock[CLOCK.TIME]! + graceMs : 0
  applicationsF64[(row + APPLICATION.OLD_KEY_UNTIL) >>> 1] = until
  copyWords(applications, row + APPLICATION.KEY, command.i32, base + at.hash, KEY_WORDS)
  applicationsF64[(row + APPLICATION.KEY_AT) >>> 1] = ends ? 0 : clock[CLOCK.TIME]!
  applications[row + APPLICATION.VERSION]!++
  const result = emitResult(state, command, base, 0, -1, application, 0)
  state.outbox.f64[(result + SERVER_KEY_ANSWER.at.oldKeyUntil) >>> 1] = until
}

function isZero(words: Int32Array, at: number, count: number): boolean {
  for (let word = 0; word < count; word++) if (words[at + word] !== 0) return false
  return true
}

/** One of its accounts is no more. */
export function uncountAccount(state: State, application: number): void {
  state.applications[application * APPLICATION_WORDS + APPLICATION.ACCOUNTS]!--
}

/** One more account was made in it. */
export function countAccount(state: State, application: number): void {
  state.applications[application * APPLICATION_WORDS + APPLICATION.ACCOUNTS]!++
}

/** Why nobody may sign in to this application now: NOT_FOUND, APPLICATION_INACTIVE, or 0. */
export function applicationRefusal(state: State, application: number): number {
  if (application < 0 || application >= state.scalars[SCALAR.APPLICATIONS]!) return REFUSALS.NOT_FOUND.number
  return state.applications[application * APPLICATION_WORDS + APPLICATION.ACTIVE] === 0 ? REFUSALS.APPLICATION_INACTIVE.number : 0
}
