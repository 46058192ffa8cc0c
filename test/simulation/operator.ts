/**
 * The operator of the simulated exchange: accepts the clock when it waits, and of perpetuals is the price feed, which wanders, jumps,
 * freezes until prices are stale and goes on, and changes what they let happen: reduce-only, a cap, a forced mark, money for the
 * insurance fund, now and then the settlement of one, which trades again afterwards.
 */
import { COMMAND_LAYOUTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { PerpMode, PerpSetting, PriceSource } from '../../core/layout/margin.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Decoded, Views } from '../../core/layout/table.ts'
import { encode } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'
import { TOTAL } from '../../core/state/columns.ts'
import { getI64, totalRow } from '../../core/state/rows.ts'
import { readPerp } from '../../core/view/margin.ts'
import { CREDIT, noRoom, register, send, slotAt, WAY_OUT } from '../../gateway/bridge/engine_client.ts'
import type { Request } from './clients.ts'
import { PERPS, PRICE_TICKS, REFERENCE } from './genesis.ts'
import { acceptClock, recordAt, type Life } from './machine.ts'
import type { Swarm } from './swarm.ts'

const REQUEST: Omit<Request, 'type'> = { key: '', sentAt: 0, send: () => undefined }

export type Answered = (code: number, sequence: number) => void

export interface OperatorParts {
  readonly random: Prng
  readonly swarm: Swarm
  wallMs(): number
  monotonicMs(): number
  /** A record was posted. */
  posted(record: Uint8Array, request: Request): void
  count(name: string): void
}

export class Operator {
  readonly #parts: OperatorParts
  /** Index prices that it believes in, by pair. */
  readonly #index = new Map<number, number>()
  /** No price comes before this time of the monotonic clock. */
  #frozen = -Infinity

  constructor(parts: OperatorParts) {
    this.#parts = parts
  }

  /** One look at the clock, which is accepted when it waits. */
  seeClock({ operator, sequencer }: Life): void {
    if (!sequencer.clock.waits || operator.inFlight > 0) return
    this.#parts.count('clock accepted')
    acceptClock(operator, this.#parts.wallMs(), (record, request) => this.#parts.posted(record, request))
  }

  /** One turn of who watches perpetuals. */
  act(life: Life): void {
    const { random, swarm } = this.#parts
    if (random.below(1000) < swarm.prices) this.#price(life)
    if (random.below(1000) < swarm.funds) this.#fund(life)
    if (random.below(1000) < swarm.settings) this.#set(life)
    const { state } = life.sequencer
    const odd = PERPS.find((pair) => ([PerpMode.REDUCE_ONLY, PerpMode.SETTLED] as number[]).includes(readPerp(state, pair).mode))
    if (odd !== undefined && random.below(40) === 0) this.#mode(life, odd, PerpMode.NORMAL)
  }

  /** Posts a command when there is room for it; `answered` hears its code and sequence, unless the exchange dies. Whether there was. */
  post({ operator }: Life, type: CommandType, values: Decoded, answered: Answered = () => undefined): boolean {
    if (noRoom(operator, -1, CREDIT, WAY_OUT) !== null) return false
    const onResult = ({ i32, f64 }: Views, base: number): void =>
      answered(i32[base + RESULT.at.code]!, f64[(base + RESULT.at.sequence) >>> 1]!)
    const correlation = register(operator, { onResult, onDeadline: () => undefined }, -1, CREDIT, WAY_OUT, 1e9)
    const at = slotAt(operator)
    encode(COMMAND_LAYOUTS[type]!, operator.commands.slots, at, { kind: kindOf(type, 1, 0), correlation, session: -1, ...values })
    this.#parts.posted(recordAt(operator.commands, at), { ...REQUEST, type })
    send(operator, 1)
    return true
  }

  #price(life: Life): void {
    const { random, swarm, count } = this.#parts
    const now = this.#parts.monotonicMs()
    if (now < this.#frozen) return
    if (random.below(100) < swarm.freezes) {
      this.#frozen = now + random.below(60_000)
      count('prices frozen')
    }
    const pair = PERPS[random.below(PERPS.length)]!
    const before = this.#index.get(pair) ?? REFERENCE
    const jumps = random.below(100) < swarm.jumps
    if (jumps) count('prices jump')
    const reach = jumps ? Math.ceil((before * swarm.jumpParts) / 100) : 4
    const moved = before + random.below(2 * reach + 1) - reach
    // Drawn back to where it began, so that it never runs to an end of the grid.
    const price = Math.min(PRICE_TICKS - 1, Math.max(2, moved + Math.round((REFERENCE - moved) / 40)))
    this.#index.set(pair, price)
    // One that is refused for its band is believed all the same, and forced the next time.
    const force = random.below(3) > 0 ? 1 : 0
    this.post(life, CommandType.SET_INDEX_PRICE, {
      pair, price, source: PriceSource.OPERATOR, force, observedAt: this.#parts.wallMs() - 5,
    })
  }

  #set(life: Life): void {
    const { random } = this.#parts
    const pair = PERPS[random.below(PERPS.length)]!
    const near = (this.#index.get(pair) ?? REFERENCE) + random.below(121) - 60
    const dice = random.below(6)
    if (dice < 1) this.#mode(life, pair, PerpMode.REDUCE_ONLY)
    else if (dice < 3) this.#mode(life, pair, PerpMode.SETTLING, Math.max(1, near + random.below(201) - 100))
    else if (dice < 4) this.#setting(life, pair, PerpSetting.OPEN_CAP, { number: [0, 0, 500, 3000][random.below(4)]! })
    else {
      const value = random.below(2) === 0 ? 0 : near
      this.#setting(life, pair, PerpSetting.FORCED_MARK, { value, number: this.#parts.wallMs() + random.below(60_000) })
    }
  }

  /** All that the house earned. */
  #fund(life: Life): void {
    const { state } = life.sequencer
    const fees = getI64(state, totalRow(state, state.collateralAsset), TOTAL.FEES)
    this.post(life, CommandType.FUND_INSURANCE, { amount: fees > 0n ? fees : 1n })
  }

  #mode(life: Life, pair: number, mode: PerpMode, price = 0): void {
    this.#setting(life, pair, PerpSetting.MODE, { value: mode, price })
  }

  #setting(life: Life, pair: number, setting: number, values: Decoded): void {
    this.post(life, CommandType.SET_PERP, { pair, setting, value: 0, price: 0, number: 0, ...values })
  }
}
