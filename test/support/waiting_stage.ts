/**
 * Perpetuals on which orders wait: LiquidationStage with conditional orders and TWAP orders, and turns of the sequencer's timers, which do
 * what prices and time lead to. One lot at one tick is one dollar. `told` are events as text: of a conditional order who, which, state and
 * reason; of a TWAP order who, state, reason and lots filled.
 */
import { CommandType, originOf, ORIGIN_NAMES } from '../../core/layout/command.ts'
import {
  CONDITION_TYPE_NAMES, CONDITIONAL_REASON_NAMES, CONDITIONAL_STATE_NAMES, conditionalReasonOf, conditionalStateOf, conditionOf, LegFlag,
} from '../../core/layout/conditional.ts'
import { REASON_NAMES, STATUS_NAMES } from '../../core/layout/event.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { TWAP_REASON_NAMES, TWAP_STATE_NAMES, twapReasonOf, twapStateOf } from '../../core/layout/twap.ts'
import { slotsOfKind } from '../../core/layout/command.ts'
import { createTimers, writeDue } from '../../core/sequencer/timers.ts'
import { findPosition } from '../../core/margin/positions.ts'
import { POSITION } from '../../core/state/margin_rows.ts'
import { accountRow, get, getF64, positionAt } from '../../core/state/rows.ts'
import { ACCOUNT } from '../../core/state/columns.ts'
import { BTC, LiquidationStage } from './liquidation_stage.ts'
import { decodeEvent } from './naive_events.ts'

/** A take-profit or stop-loss. */
export interface Leg {
  at: number
  limit?: number
  lots?: number
  flags?: number
  bps?: number
  until?: number
}
/** A trailing stop. */
export interface Trail {
  bps: number
  from?: number
  lots?: number
  until?: number
}
export interface Legs {
  profit?: Leg
  stop?: Leg
  trail?: Trail
}

const flagsOf = ({ limit, flags = 0, bps, until }: Partial<Leg>): number =>
  flags | (limit === undefined ? 0 : LegFlag.LIMIT) | (bps === undefined ? 0 : LegFlag.SLIPPAGE) |
  (until === undefined ? 0 : LegFlag.EXPIRES)

/** Words of a command. */
export function legWords({ profit, stop, trail }: Legs): Decoded {
  const words: Decoded = {}
  for (const [prefix, leg] of [['profit', profit], ['stop', stop]] as const) {
    if (leg === undefined) continue
    Object.assign(words, {
      [`${prefix}Trigger`]: leg.at, [`${prefix}Flags`]: flagsOf(leg), [`${prefix}Limit`]: leg.limit ?? 0, [`${prefix}Lots`]: leg.lots ?? 0,
      [`${prefix}SlippageBps`]: leg.bps ?? 0, [`${prefix}ExpiresAt`]: leg.until ?? 0,
    })
  }
  if (trail === undefined) return words
  const until: Decoded = trail.until === undefined ? {} : { trailFlags: LegFlag.EXPIRES, trailExpiresAt: trail.until }
  return { ...words, trailBps: trail.bps, trailActivation: trail.from ?? 0, trailLots: trail.lots ?? 0, ...until }
}

export interface Turned {
  commands: number
  events: Decoded[]
  told: string[]
}

export class WaitingStage extends LiquidationStage {
  protected readonly all = createTimers()
  private readonly slots = viewsOf(new ArrayBuffer(2048 * RECORD_BYTES))
  private readonly who = new Map<number, string>()

  override account(name: string): number {
    const account = super.account(name)
    this.who.set(account, name)
    return account
  }

  /** Legs for the open position of a wallet; what is said of them. */
  attach(name: string, legs: Legs, pair = BTC, over: Decoded = {}): Turned {
    const position = findPosition(this.state, this.bucket(name, pair), pair)
    const named = { position: positionAt(this.state, position), openedSequence: getF64(this.state, position, POSITION.OPENED_SEQUENCE) }
    const events = this.events(CommandType.ATTACH_CONDITIONALS, { ...this.signed(name), ...named, ...legWords(legs), ...over }, 1)
    return { commands: 1, events, told: this.toldOf(events) }
  }

  /** The code of the refusal, '' when it was done. */
  static codeOf(events: readonly Decoded[]): string {
    const code = Number(events.at(-1)!['code'])
    return code === 0 ? '' : refusalByNumber(code).code
  }

  /** What happened, of the events that are told. */
  toldOf(events: readonly Decoded[]): string[] {
    return events.flatMap((event) => {
      const name = this.who.get(Number(event['account'])) ?? String(event['account'])
      const what = Number(event['what'])
      const code = Number(event['code'] ?? 0)
      const refusal = code === 0 ? [] : [refusalByNumber(code).code]
      if (event['event'] === 'CONDITIONAL') {
        const said = [name, CONDITION_TYPE_NAMES[conditionOf(what)], CONDITIONAL_STATE_NAMES[conditionalStateOf(what)]]
        return [[...said, CONDITIONAL_REASON_NAMES[conditionalReasonOf(what)], ...refusal].join(' ')]
      }
      if (event['event'] === 'TWAP') {
        const said = [name, 'TWAP', TWAP_STATE_NAMES[twapStateOf(what)], TWAP_REASON_NAMES[twapReasonOf(what)], `${event['filled']}`]
        return [[...said, ...refusal].join(' ')]
      }
      if (event['event'] === 'RESULT of ENTER_ORDER' && code === 0) {
        const [status, reason] = [STATUS_NAMES[Number(event['outcome']) & 0xff], REASON_NAMES[Number(event['outcome']) >> 8]]
        const filled = Number(event['lots']) - Number(event['remaining'])
        const said = [name, ORIGIN_NAMES[originOf(Number(event['flags']))], status, reason, `${filled}/${event['lots']}`]
        return [said.filter(Boolean).join(' ')]
      }
      return []
    })
  }

  /** One turn of the timers: everything that they write, applied. */
  timed(most = 512): Turned {
    const used = writeDue(this.all, this.state, this.time, this.slots, 0, most)
    const events: Decoded[] = []
    let commands = 0
    for (let slot = 0; slot < used; slot += slotsOfKind(this.slots.u32[slot * RECORD_WORDS]!)) {
      const count = this.bench.run(this.slots, slot * RECORD_WORDS, this.time)
      for (let record = 0; record < count; record++) events.push(decodeEvent(this.bench.said, record * RECORD_WORDS))
      commands++
    }
    // Not before: the due queue has forgotten what the commands behind are about.
    this.check()
    return { commands, events, told: this.toldOf(events) }
  }

  /** Turns until nothing is to be done any more; throws after `most` turns. */
  settleDown(most = 2000): Turned {
    const all: Turned = { commands: 0, events: [], told: [] }
    for (let turns = 0; ; turns++) {
      const turn = this.timed()
      all.commands += turn.commands
      all.events.push(...turn.events)
      all.told.push(...turn.told)
      if (!this.all.behind && turn.commands === 0) return all
      if (turns > most) throw new Error(`the timers do not come to rest in ${most} turns`)
    }
  }

  /** An index price, and everything that it leads to. */
  move(price: number, pair = BTC): string[] {
    this.price(pair, price)
    return this.settleDown().told
  }

  /** The sequence that made the account. */
  made(name: string): number {
    return getF64(this.state, accountRow(this.state, this.account(name)), ACCOUNT.CREATED_SEQUENCE)
  }

  /** A TWAP order; every event of it. */
  twap(name: string, values: Decoded): Turned {
    const events = this.events(CommandType.CREATE_TWAP, { pair: BTC, ...this.signed(name), ...values }, 1)
    return { commands: 1, events, told: this.toldOf(events) }
  }

  positionLots(name: string, pair = BTC): number {
    const position = findPosition(this.state, this.bucket(name, pair), pair)
    return position < 0 ? 0 : get(this.state, position, POSITION.LOTS)
  }
}
