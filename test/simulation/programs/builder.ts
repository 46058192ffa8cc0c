/**
 * Builder codes: the operator sets cap, switches and revenue share, enrolls the two applications and changes what they charge; payout
 * wallets change it too, others try to. Everybody's orders go along.
 *
 * What must be true: within a command each payout account gets what the payers of its application are charged, and nobody else gets any of
 * it; and no order is ever charged more of what it filled than the cap that there was when it was placed.
 */
import { APPLICATION_FEE, CREDIT, CreditSource, EventType, FILL, RESULT } from '../../../core/layout/event.ts'
import { CommandType, Flag } from '../../../core/layout/command.ts'
import { UNCHANGED } from '../../../core/layout/builder.ts'
import { decode, type Decoded } from '../../../core/layout/table.ts'
import type { Prng } from '../../../core/lib/prng.ts'
import { APPLICATION } from '../../../core/state/columns.ts'
import { applicationRow, get } from '../../../core/state/rows.ts'
import { readBuilderProgram } from '../../../core/view/builder.ts'
import { encodeBuilderFee } from '../../../gateway/bridge/encode.ts'
import type { Asker, Draft } from '../margin_requests.ts'
import { Violation } from '../violation.ts'
import { eventsOf, named, pick, resultOf, type Desk, type Done, type Program, type ProgramAudit } from './program.ts'

/** Of the genesis. */
export const APPLICATIONS = 2
const FEES = [0, 1, 7, 30, 60, 100]
const BPS = 10_000n

const sideFee = (random: Prng): number => (random.below(3) === 0 ? UNCHANGED : pick(random, FEES))

function request({ random, state, account }: Asker): Draft | null {
  const own = Array.from({ length: APPLICATIONS }, (_, number) => get(state, applicationRow(state, number), APPLICATION.PAYOUT) - 1)
  if (!own.includes(account) && random.below(12) > 0) return null
  const [bps, makerBps] = [pick(random, FEES), sideFee(random)]
  return {
    type: CommandType.SET_BUILDER_FEE, key: '',
    send: (engine, at, correlation, caller) => encodeBuilderFee(engine, at, correlation, caller, bps, makerBps),
  }
}

function operate({ random, state, account }: Desk): readonly [CommandType, Decoded] | null {
  if (!readBuilderProgram(state).feesOn || random.below(4) === 0) {
    return [CommandType.SET_BUILDER_PROGRAM, {
      capBps: pick(random, [100, 60, 5]), builderFees: random.below(8) === 0 ? 0 : 1, revenueSharePpm: pick(random, [0, 1, 200_000]),
    }]
  }
  const application = random.below(APPLICATIONS)
  // The two applications have the clients in turns.
  const payout = named(state, account(application + APPLICATIONS * random.below(2)))
  if (payout === null) return null
  return [CommandType.ENROLL_APPLICATION, {
    application, ...payout, active: random.below(6) === 0 ? 0 : 1, bps: sideFee(random), makerBps: sideFee(random),
  }]
}

/** By order: what it filled while it was charged for, and what it was charged, quote atoms. */
interface Charged { quote: bigint; charged: bigint }

class BuilderAudit implements ProgramAudit {
  readonly #application = new Map<number, number>()
  readonly #payout = new Map<number, number>()
  readonly #orders = new Map<string, Charged>()
  /** Caps, bps, and the sequences from which on they were, the newest first. */
  readonly #caps: { since: number; bps: bigint }[] = []

  see({ type, command, events, met }: Done): void {
    this.#due(events, met)
    const result = resultOf(events)
    if (events.i32[result + RESULT.at.code] !== 0) return
    const account = events.i32[result + RESULT.at.account]!
    if (type === CommandType.OPEN_SESSION) this.#application.set(account, Number(command['application']))
    if (type === CommandType.ENROLL_APPLICATION) this.#payout.set(Number(command['application']), account)
    if (type === CommandType.SET_BUILDER_PROGRAM) {
      this.#caps.unshift({ since: events.f64[(result + RESULT.at.sequence) >>> 1]!, bps: BigInt(command['capBps']!) })
    }
    if (type === CommandType.SET_BUILDER_FEE) met('builder fee set')
  }

  /** Fees of this command against what was credited for them, by payout account and asset. */
  #due(events: Done['events'], met: Done['met']): void {
    for (const base of eventsOf(events, EventType.FILL)) this.#fill(decode(FILL, events, base))
    const owed = new Map<string, bigint>()
    const add = (account: number, asset: unknown, amount: bigint): void => {
      const key = `asset ${String(asset)} of payout account ${account}`
      owed.set(key, (owed.get(key) ?? 0n) + amount)
    }
    for (const base of eventsOf(events, EventType.APPLICATION_FEE)) {
      const fee = decode(APPLICATION_FEE, events, base)
      met(fee['rested'] === 1 ? 'application fee of a maker' : 'application fee of a taker')
      add(this.#payout.get(this.#application.get(Number(fee['account']))!) ?? -1, fee['asset'], BigInt(fee['amount']!))
      this.#charge(fee)
    }
    for (const base of eventsOf(events, EventType.CREDIT)) {
      const { account, asset, amount, source } = decode(CREDIT, events, base)
      if (source === CreditSource.REVENUE_SHARE) met('revenue share')
      if (source === CreditSource.APPLICATION_FEE) add(Number(account), asset, -BigInt(amount!))
    }
    for (const [whose, rest] of owed) if (rest !== 0n) throw new Violation(`${whose}: payers were charged ${rest} atoms more than it got`)
  }

  #fill(fill: Decoded): void {
    const { quote, makerFlags, makerSequence, makerSlot, takerFlags, sequence, takerSlot } = fill
    const sides = [[makerFlags, makerSequence, makerSlot], [takerFlags, sequence, takerSlot]] as const
    for (const [flags, order, slot] of sides) {
      if ((Number(flags) & Flag.ADD_ON) === 0) continue
      const key = `${String(order)}/${String(slot)}`
      const { quote: before, charged } = this.#orders.get(key) ?? { quote: 0n, charged: 0n }
      this.#orders.set(key, { quote: before + BigInt(quote!), charged })
    }
  }

  #charge({ orderSequence, slot, amount, charged }: Decoded): void {
    const order = this.#orders.get(`${String(orderSequence)}/${String(slot)}`)
    if (order === undefined) throw new Violation(`order ${String(orderSequence)} is charged for without a fill`)
    order.charged += BigInt(amount!)
    const cap = this.#caps.find(({ since }) => since < Number(orderSequence))?.bps ?? 0n
    const most = (order.quote * cap) / BPS
    if (order.charged === charged && BigInt(amount!) > 0n && order.charged <= most) return
    throw new Violation(`order ${String(orderSequence)} was charged ${order.charged} atoms of ${most}, and tells ${String(charged)}`)
  }
}

export const BUILDER: Program = {
  name: 'builder', weights: [5], needsPerps: false, operates: 60, request, operate, audit: () => new BuilderAudit(),
}
