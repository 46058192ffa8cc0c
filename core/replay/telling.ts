/**
 * A replayed command as people read it: rows of kinds (kinds.ts) for tables, one line with all its events for reading.
 *
 * It has to be told while the replayer calls, right after the command was applied: names are those of the state of that moment. A command
 * with more events than the outbox holds is told in several calls; its RESULT is the last of its last call. A command may enter orders
 * of its own, as steps of liquidations, triggers and TWAP orders do: their RESULTs are among its events, and are rows of orders.
 */
import { COMMAND_SLOTS, CommandType, commandName, typeOfKind } from '../layout/command.ts'
import { answeredTypeOf, eventName, EventType, eventTypeOf, RESULT } from '../layout/event.ts'
import { modernise } from '../layout/first_layout.ts'
import { parseId, IdKind } from '../layout/ids.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../layout/table.ts'
import type { Listener } from '../recovery/replayer.ts'
import { answerColumns } from './answer_columns.ts'
import { COMMAND_COLUMNS } from './command_columns.ts'
import { EVENT_COLUMNS } from './event_columns.ts'
import { commandPlan, eventPlan, type Kind, type Plan } from './kinds.ts'
import type { Cell, Column, Told } from './meanings.ts'
import { timeText, unknown, type Names } from './names.ts'

const REFUSAL_CODES: ReadonlyMap<number, string> = new Map(Object.values(REFUSALS).map(({ number, code }) => [number, code]))
/** Code of the register; `null`: it was done. */
export const refusalCode = (number: number): string | null => number === 0 ? null : REFUSAL_CODES.get(number) ?? unknown(number)

/** Whom and what rows must name to be told. Absent: whoever, whatever. */
export interface About {
  /** UUID of a user, or a wallet (0x and 40 hex digits): all accounts that it has. */
  readonly user?: string | undefined
  /** Symbol of a pair. */
  readonly pair?: string | undefined
}

export const isWallet = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text)
/** Throws RangeError unless it may be {@link About.user}. */
export function checkUser(user: string): void {
  if (!isWallet(user) && parseId(IdKind.USER, user) === null) {
    throw new RangeError(`--user ${user}: neither the UUID of a user nor a wallet (0x and 40 hex digits)`)
  }
}

type IsAccount = (account: number) => boolean

/** Whether a row is an account of this user. */
export function accountTest(names: Names, user: string): IsAccount {
  if (isWallet(user)) {
    const wallet = user.toLowerCase()
    return (account) => names.hasAccount(account) && names.wallet(account) === wallet
  }
  const id = parseId(IdKind.USER, user)
  return (account) => id !== null && account === id.slot && names.hasAccount(account) && names.madeAt(account) === id.sequence
}

/** Hears every row of a kind. The cells are the caller's until it returns. */
export type Rows = (kind: Kind, cells: Cell[]) => void
/** Hears every command with all its events, as a plain object. */
export type Lines = (line: Record<string, unknown>) => void

export class Telling {
  readonly names: Names
  readonly #asked: Told
  readonly #event: Told
  readonly #isAccount: IsAccount | null
  readonly #pair: string | null
  readonly #command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  readonly #old = viewsOf(new ArrayBuffer(RECORD_BYTES))

  constructor(names: Names, about: About = {}) {
    this.names = names
    this.#asked = { views: this.#command, at: 0, names }
    this.#event = { views: this.#command, at: 0, names }
    this.#isAccount = about.user === undefined ? null : accountTest(names, about.user)
    this.#pair = about.pair ?? null
  }

  /** Tells rows of the kinds that `wanted` says, by their index. */
  rows(wanted: readonly boolean[], rows: Rows): Listener {
    return (sequence, time, command, events, count, layout) => {
      const type = this.#takeCommand(command, layout)
      const views = this.#takeEvents(events)
      for (let index = 0; index < count; index++) {
        this.#event.at = index * RECORD_WORDS
        const event = eventTypeOf(views.u32[this.#event.at]!)
        if (event !== EventType.RESULT) this.#eventRow(sequence, time, event, wanted, rows)
        else if (this.#answers(type)) this.#commandRow(sequence, time, type, wanted, rows)
        else this.#enteredRow(sequence, time, wanted, rows)
      }
    }
  }

  /** Tells every command when its last event was heard. */
  lines(lines: Lines): Listener {
    let events: Record<string, Cell>[] = []
    let isWanted = false
    return (sequence, time, command, records, count, layout) => {
      const type = this.#takeCommand(command, layout)
      const views = this.#takeEvents(records)
      for (let index = 0; index < count; index++) {
        this.#event.at = index * RECORD_WORDS
        const event = eventTypeOf(views.u32[this.#event.at]!)
        const columns = event === EventType.RESULT ? this.#answerColumns() : EVENT_COLUMNS[event]!
        const isEnd = event === EventType.RESULT && this.#answers(type)
        isWanted ||= this.#isAbout(isEnd ? askedColumns(type) : [], columns)
        events.push({
          event: eventName(event), ...(event === EventType.RESULT ? refusedBy(this.#code()) : {}), ...plain(columns, this.#event),
        })
        if (!isEnd) continue
        const asked = plain(askedColumns(type), this.#asked)
        if (isWanted) lines({ sequence, time: timeText(time), command: commandName(type), ...asked, events })
        events = []
        isWanted = false
      }
    }
  }

  /** Its type. The record is one of today's layouts from here on. */
  #takeCommand(command: Buffer, layout: number): number {
    const type = typeOfKind(command.readUInt32LE(0))
    if (type === CommandType.GENESIS) return type
    if (layout > 1) this.#command.bytes.set(command.subarray(0, COMMAND_SLOTS * RECORD_BYTES))
    else {
      this.#old.bytes.set(command.subarray(0, RECORD_BYTES))
      this.#command.bytes.fill(0)
      modernise(this.#old, 0, this.#command, 0)
    }
    return type
  }

  #takeEvents(events: Uint8Array): Views {
    const { views } = this.#event
    if (views.bytes.buffer !== events.buffer || views.bytes.byteOffset !== events.byteOffset || views.bytes.length < events.length) {
      this.#event.views = viewsOf(events.buffer, events.byteOffset)
    }
    return this.#event.views
  }

  /** Of the RESULT that is being told. */
  #code(): number {
    return this.#event.views.i32[this.#event.at + RESULT.at.code]!
  }

  /** Whether the RESULT that is being told is that of the command, of this type, and not of an order that it entered. */
  #answers(type: number): boolean {
    return answeredTypeOf(this.#event.views.u32[this.#event.at]!) === type
  }

  #answerColumns(): readonly Column[] {
    return answerColumns(answeredTypeOf(this.#event.views.u32[this.#event.at]!), this.#code())
  }

  #commandRow(sequence: number, time: number, type: number, wanted: readonly boolean[], rows: Rows): void {
    const found = commandPlan(type)
    if (found === undefined || wanted[found.kind.index] !== true) return
    const code = this.#code()
    const plan = code === 0 ? found.done : found.refused
    if (!this.#isAbout(plan.askedOf, plan.answeredOf)) return
    const cells: Cell[] = [sequence, time, commandName(type), refusalCode(code)]
    this.#fill(cells, plan, code === 0)
    rows(found.kind, cells)
  }

  /** Of an order that the command entered: all that is known of it is its answer. */
  #enteredRow(sequence: number, time: number, wanted: readonly boolean[], rows: Rows): void {
    const type = answeredTypeOf(this.#event.views.u32[this.#event.at]!)
    const found = commandPlan(type)
    if (found === undefined || wanted[found.kind.index] !== true) return
    const code = this.#code()
    const { answered, answeredOf } = code === 0 ? found.done : found.refused
    if (!this.#isAbout([], answeredOf)) return
    const cells: Cell[] = [sequence, time, commandName(type), refusalCode(code)]
    for (const column of answered) cells.push(column === undefined ? null : column.cell(this.#event))
    rows(found.kind, cells)
  }

  #eventRow(sequence: number, time: number, event: number, wanted: readonly boolean[], rows: Rows): void {
    const found = eventPlan(event)
    if (found === undefined || wanted[found.kind.index] !== true || !this.#isAbout([], found.plan.askedOf)) return
    const cells: Cell[] = [sequence, time]
    for (const column of found.plan.asked) cells.push(column === undefined ? null : column.cell(this.#event))
    rows(found.kind, cells)
  }

  /** What was done is as the answer says, what was refused as it was asked for. */
  #fill(cells: Cell[], { asked, answered }: Plan, isDone: boolean): void {
    for (let index = 0; index < asked.length; index++) {
      const [ask, answer] = [asked[index], answered[index]]
      if (answer === undefined) cells.push(ask === undefined ? null : ask.cell(this.#asked))
      else if (isDone || ask === undefined) cells.push(answer.cell(this.#event))
      else cells.push(ask.cell(this.#asked) ?? answer.cell(this.#event))
    }
  }

  #isAbout(asked: readonly Column[], said: readonly Column[]): boolean {
    const names = (test: (column: Column, told: Told) => boolean): boolean =>
      asked.some((column) => test(column, this.#asked)) || said.some((column) => test(column, this.#event))
    const [isAccount, pair] = [this.#isAccount, this.#pair]
    if (isAccount !== null && !names(({ account }, told) => account !== undefined && isAccount(account(told)))) return false
    return pair === null || names((column, told) => column.name === 'pair' && column.cell(told) === pair)
  }
}

const askedColumns = (type: number): readonly Column[] => (COMMAND_COLUMNS as Readonly<Record<number, readonly Column[]>>)[type] ?? []
const refusedBy = (code: number): Record<string, Cell> => code === 0 ? {} : { refusal: refusalCode(code) }

/** Columns that have a value, times as text. */
export function plain(columns: readonly Column[], told: Told): Record<string, Cell> {
  const out: Record<string, Cell> = {}
  for (const { name, type, cell } of columns) {
    const value = cell(told)
    if (value !== null) out[name] = type === 'time' ? timeText(value as number) : value
  }
  return out
}
