/**
 * Applications from the shared columns, as one thread sees them: names, origins, state and key hashes.
 *
 * A row's version says whether the copy is still good, so that a look-up costs a comparison per row and a change by the operator is
 * seen by the next request. A row that cannot be read in one piece (the matcher stands still in the middle of a batch) stays what it was;
 * one that was never read is left out.
 */
import { ORIGINS_MAX } from '../layout/command.ts'
import { applicationId } from '../layout/ids.ts'
import type { F64Field } from '../layout/table.ts'
import {
  APPLICATION, APPLICATION_NAME_WORDS, CLIENT_ID_WORDS, KEY_WORDS, ORIGIN_WORDS, SCALAR,
} from '../state/columns.ts'
import { loadWord } from '../state/shared_words.ts'
import { applicationRow, bytesOf, get, getF64, originRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { consistently } from './consistent.ts'

export interface ApplicationView {
  /** Row. */
  readonly application: number
  readonly id: string
  readonly clientId: string
  readonly name: string
  /** `*` or scheme://host[:port]. */
  readonly allowedOrigins: readonly string[]
  readonly isActive: boolean
  /** Unix ms; 0: made with the exchange. */
  readonly createdAt: number
  /** SHA-256 of its server key and of the one before, `null` without one. */
  readonly key: Uint8Array | null
  readonly oldKey: Uint8Array | null
  /** Unix ms: the end of the old key; 0 without one. */
  readonly oldKeyUntil: number
  /** Unix ms: when the key was issued; 0 without one. */
  readonly keyAt: number
  /** The builder-codes program: its payout account, -1: it never had one; whether it takes part; what it adds, bps. */
  readonly payoutAccount: number
  readonly isEnrolled: boolean
  readonly builderFeeBps: number
  readonly builderMakerFeeBps: number
}

interface Entry {
  version: number
  view: ApplicationView
}

export class Applications {
  readonly #state: State
  readonly #gate: Int32Array
  readonly #entries: (Entry | undefined)[] = []
  #list: readonly ApplicationView[] = []
  #byClientId: ReadonlyMap<string, ApplicationView> = new Map()

  /** `gate`: word APPLYING of the exchange (ring/counters.ts). */
  constructor(state: State, gate: Int32Array) {
    this.#state = state
    this.#gate = gate
  }

  /** All of them, in the order they were made. */
  list(): readonly ApplicationView[] {
    const count = Atomics.load(this.#state.scalars, SCALAR.APPLICATIONS)
    let changed = false
    for (let row = 0; row < count; row++) {
      if (this.#entries[row]?.version !== this.#versionOf(row)) changed = this.#read(row) || changed
    }
    if (changed) {
      this.#list = this.#entries.flatMap((entry) => (entry === undefined ? [] : [entry.view]))
      this.#byClientId = new Map(this.#list.map((view) => [view.clientId, view]))
    }
    return this.#list
  }

  /** The application in this row, or `undefined`. */
  at(row: number): ApplicationView | undefined {
    if (row < 0 || row >= this.#state.scalars[SCALAR.APPLICATIONS]!) return undefined
    if (this.#entries[row]?.version !== this.#versionOf(row)) this.list()
    return this.#entries[row]?.view
  }

  byClientId(clientId: string): ApplicationView | undefined {
    this.list()
    return this.#byClientId.get(clientId)
  }

  #versionOf(application: number): number {
    return loadWord(this.#state, applicationRow(this.#state, application), APPLICATION.VERSION)
  }

  /** True when the copy of the row is another now. */
  #read(application: number): boolean {
    const state = this.#state
    const at = wordOf(applicationRow(state, application), APPLICATION.VERSION)
    const entry = consistently(this.#gate, state.i32, at, () => copyApplication(state, application))
    if (entry === null) return false
    this.#entries[application] = entry
    return true
  }
}

const TEXT = new TextDecoder()

/** The text in a zero-padded field of so many words. */
function textOf(state: State, row: number, field: number, words: number): string {
  const bytes = bytesOf(state, row, field, words * 4).slice()
  const end = bytes.indexOf(0)
  return TEXT.decode(end < 0 ? bytes : bytes.subarray(0, end))
}

function keyOf(state: State, row: number, field: number): Uint8Array | null {
  const key = Uint8Array.from(bytesOf(state, row, field, KEY_WORDS * 4))
  return key.every((byte) => byte === 0) ? null : key
}

/** Row of an application as it is now: consistent only inside {@link consistently}. */
function copyApplication(state: State, application: number): Entry {
  const { genesis } = state
  const row = applicationRow(state, application)
  const count = Math.min(ORIGINS_MAX, get(state, row, APPLICATION.ORIGINS))
  const origin = (place: number): string => textOf(state, originRow(state, application, place), 0, ORIGIN_WORDS)
  const time = (field: F64Field): number => getF64(state, row, field)
  return {
    version: get(state, row, APPLICATION.VERSION),
    view: {
      application,
      id: genesis.applications[application]?.id ?? applicationId(time(APPLICATION.CREATED_SEQUENCE), application),
      clientId: textOf(state, row, APPLICATION.CLIENT_ID, CLIENT_ID_WORDS),
      name: textOf(state, row, APPLICATION.NAME, APPLICATION_NAME_WORDS),
      allowedOrigins: Array.from({ length: count }, (_, place) => origin(place)),
      isActive: get(state, row, APPLICATION.ACTIVE) !== 0,
      createdAt: time(APPLICATION.CREATED_AT),
      key: keyOf(state, row, APPLICATION.KEY),
      oldKey: keyOf(state, row, APPLICATION.OLD_KEY),
      oldKeyUntil: time(APPLICATION.OLD_KEY_UNTIL),
      keyAt: time(APPLICATION.KEY_AT),
      payoutAccount: get(state, row, APPLICATION.PAYOUT) - 1,
      isEnrolled: get(state, row, APPLICATION.ENROLLED) !== 0,
      builderFeeBps: get(state, row, APPLICATION.BUILDER_BPS),
      builderMakerFeeBps: get(state, row, APPLICATION.BUILDER_MAKER_BPS),
    },
  }
}
