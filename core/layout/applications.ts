/** Commands of the operator about applications (programs/applications.ts). */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** Origins of one application, at most. */
export const ORIGINS_MAX = 16

/** Operator: a new application (-1) or another name, client id and state of one. */
export const SET_APPLICATION_COMMAND = defineLayout('set_application', {
  ...HEADER,
  /** Row of the application; -1: a new one. */
  application: 'i32',
  active: 'i32',
  /** Printable ASCII, zero padded. */
  clientId: 'bytes40',
  /** UTF-8, zero padded. */
  name: 'bytes48',
})

/** Operator: allows or forbids one origin of an application's pages. */
export const SET_ORIGIN_COMMAND = defineLayout('set_origin', {
  ...HEADER,
  application: 'i32',
  /** 1: add, 0: remove. */
  allowed: 'i32',
  /** ASCII, zero padded: `*` or scheme://host[:port]. */
  origin: 'bytes96',
})

/** Longest time an old server key may stay good after its successor was set, ms: a year. */
export const KEY_GRACE_MAX_MS = 365 * 24 * 3600 * 1000

/** Operator: an application's server key. All zero: none from now on. */
export const SET_SERVER_KEY_COMMAND = defineLayout('set_server_key', {
  ...HEADER,
  application: 'i32',
  reserved: 'i32',
  /** How long the key before stays good, ms from now. */
  graceMs: 'f64',
  /** SHA-256 of the key's text. */
  hash: 'bytes32',
})
