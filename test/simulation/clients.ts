/**
 * Clients of the simulated exchange. Each signs in, asks the faucet, and trades around one price: orders with an
 * idempotency key, cancels without, and deadlines at which all its orders are cancelled; where there are perpetuals, it
 * trades them too (margin_requests.ts), and it takes part in programs (programs/). A request whose answer does not
 * come, because the time is over or the exchange died, is sent again with the same key, over any gateway, also while the
 * first one may still be on its way; now and then it is sent twice at once.
 *
 * The ledger is what was acknowledged: by key, which order or move of collateral it is. Whatever happens later, a key is one.
 */
import type { Prng } from '../../core/lib/prng.ts'
import { SESSION_ANSWER, WITHDRAWAL_ANSWER } from '../../core/layout/answers.ts'
import { CommandType, DISARM, Flag, Option } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Views } from '../../core/layout/table.ts'
import {
  encodeAtEnd, encodeCancel, encodeCancelAll, encodeDeadline, encodeMint, encodeOpened, encodeOpenSession, encodeOrder,
  encodeSession,
} from '../../gateway/bridge/encode.ts'
import type { OrderTerms } from '../../gateway/bridge/terms.ts'
import { CREDIT, register, noRoom, send, slotAt, WAY_IN, WAY_OUT, type EngineClient } from '../../gateway/bridge/engine_client.ts'
import type { State } from '../../core/state/state.ts'
import type { Caller } from '../../gateway/auth/signed_request.ts'
import { marginRequest, type Asker, type Draft } from './margin_requests.ts'
import { PROGRAMS } from './programs/all.ts'
import { APPLICATIONS } from './programs/builder.ts'
import { addressOf, referrerNow } from './programs/referrals.ts'
import { waitingRequest } from './waiting_requests.ts'
import type { Swarm } from './swarm.ts'
import { Violation } from './violation.ts'

/** Orders that one CANCEL_ALL may end. */
const SWEEP = 4
/** What comes before a script begins. */
/** Keyed commands that make no order. */
const MOVES: readonly number[] = [CommandType.MOVE_COLLATERAL, CommandType.TRANSFER_REWARDS, CommandType.INITIATE_WITHDRAWAL]
const SIGNING_IN: readonly CommandType[] = [CommandType.OPEN_SESSION, CommandType.MINT]
const [SESSION_INVALID, KEY_CONFLICT, FAUCET_LIMIT] = [113, 302, 308]

/** What a preview said an order comes to that is the command behind sequence `behind`. */
export interface Foreseen {
  readonly behind: number
  readonly code: number
  readonly filled: number
  readonly trades: number
  readonly best: number
  readonly worst: number
}

/** What a client wants done; the same request may be sent several times. */
export interface Request {
  readonly type: CommandType
  /** Of an order or a move of collateral; '' without. */
  readonly key: string
  readonly send: (engine: EngineClient, at: number, correlation: number, caller: Caller) => void
  /** The question what it would come to, of an order of which that can be asked. */
  readonly preview?: readonly number[]
  /** What was answered before it was sent. */
  foreseen?: Foreseen
  /** Monotonic ms of the simulation; Infinity: its preview is awaited. */
  sentAt: number
}

export interface Order {
  readonly slot: number
  readonly sequence: number
}

/** What an accepted command of this type made, by the RESULT at word `base`: the sequence that is its identity. */
export const identityIn = (type: number, { f64 }: Views, base: number): number =>
  f64[(base + (type === CommandType.INITIATE_WITHDRAWAL ? WITHDRAWAL_ANSWER.at.withdrawalSequence : RESULT.at.orderSequence)) >>> 1]!

/** What the clients need of the world they live in. */
export interface Surroundings {
  readonly random: Prng
  /** Gateways that are up. */
  bridges(): readonly EngineClient[]
  monotonicMs(): number
  /** Wall clock, ms. */
  wallMs(): number
  /** Spot pairs. */
  pairs: number
  swarm: Swarm
  /** Shared columns of the exchange; `null` while it is down. */
  state(): State | null
  /** Asks the matcher for a preview; false: it is not asked. */
  preview(asked: readonly number[], told: (foreseen: Foreseen) => void): boolean
  /** A record was posted. */
  posted(engine: EngineClient, base: number, request: Request): void
  /** It was refused at the gateway. */
  full(): void
}

/** What a client does that does not draw it. */
export interface Script {
  /** What to ask for next, when nothing is under way; `null`: nothing now. */
  next(asker: Asker): Draft | null
  /** The last request was accepted, as this sequence. */
  acknowledged(sequence: number): void
}

export class Client {
  readonly number: number
  readonly #wallet: number
  readonly #around: Surroundings
  readonly #script: Script | null
  readonly #caller: Caller = { account: -1, application: 0, session: -1, generation: 0, agent: -1 }
  /** Sequence that made its account. */
  #madeBy = 0
  #funded = false
  #keys = 0
  /** Under way or to be sent again. */
  readonly requests: Request[] = []
  /** Orders that may rest. */
  readonly #orders: Order[] = []
  /** By key: the order it was acknowledged as. */
  readonly ledger = new Map<string, Order>()

  /** `wallet`: of another client, of which this is one more process. */
  constructor(number: number, around: Surroundings, script: Script | null = null, wallet = number) {
    this.number = number
    this.#wallet = wallet
    this.#around = around
    this.#script = script
  }

  /** Everything that was sent is answered. */
  get quiet(): boolean {
    return this.requests.length === 0
  }

  /** Its account; -1 before it signed in. */
  get account(): number {
    return this.#caller.account
  }

  /** One look at what is to be done; `more`: new requests may begin. */
  act(more: boolean): void {
    const { random } = this.#around
    for (const request of [...this.requests]) if (this.#isLate(request)) this.#again(request)
    if (!more || this.requests.length >= (this.#script === null ? 3 : 1) || random.below(3) !== 0) return
    const request = this.#next()
    if (request === null) return
    this.requests.push(request)
    if (this.#foresee(request)) return
    this.#transmit(request)
    if (request.key !== '' && random.below(12) === 0) this.#transmit(request)
  }

  /** Half of the orders that can be previewed are, and are sent when that is answered. */
  #foresee(request: Request): boolean {
    if (request.preview === undefined || this.#around.random.below(2) === 0) return false
    const waits = this.#around.preview(request.preview, (foreseen) => {
      request.foreseen = foreseen
      request.sentAt = -Infinity
    })
    if (waits) request.sentAt = Infinity
    return waits
  }

  /** Everything that was acknowledged is in the journal, as what it was acknowledged as. */
  look(accepted: (key: string) => number | undefined): void {
    for (const [key, { sequence }] of this.ledger) {
      const found = accepted(key)
      if (found === sequence) continue
      throw new Violation(`client ${this.number}: key ${key} was acknowledged as ${sequence}, the journal has ${found ?? 'nothing'}`)
    }
  }

  /** The exchange died: whatever is under way may have been done or not. */
  lost(): void {
    for (const request of this.requests) request.sentAt = -Infinity
  }

  /**
   * What came after sequence `end` is declared lost: acknowledged orders are forgotten, and whatever is under way; it
   * signs in anew. How many orders it had that are lost.
   */
  loses(end: number): number {
    this.requests.length = 0
    this.#caller.session = -1
    this.#funded = false
    const gone = [...this.ledger].filter(([, { sequence }]) => sequence > end)
    for (const [key] of gone) this.ledger.delete(key)
    this.#orders.splice(0, Infinity, ...this.#orders.filter(({ sequence }) => sequence <= end))
    return gone.length
  }

  #isLate({ sentAt }: Request): boolean {
    return this.#around.monotonicMs() - sentAt > 200 + this.#around.random.below(400)
  }

  /** Only what has a key, and signing in, may be done twice. */
  #again(request: Request): void {
    if (request.key !== '' || request.type === CommandType.OPEN_SESSION) this.#transmit(request)
    else this.#resolve(request)
  }

  #resolve(request: Request): void {
    const at = this.requests.indexOf(request)
    if (at >= 0) this.requests.splice(at, 1)
  }

  #transmit(request: Request): void {
    const { random } = this.#around
    const bridges = this.#around.bridges()
    if (bridges.length === 0) return
    const engine = bridges[random.below(bridges.length)]!
    const sweep = request.type === CommandType.CANCEL_ALL
    const way = sweep || request.type === CommandType.CANCEL_ORDER ? WAY_OUT : WAY_IN
    const credits = CREDIT + (sweep ? SWEEP : 0)
    const { account } = this.#caller
    if (noRoom(engine, account, credits, way) !== null) {
      this.#around.full()
      // Refused for sure, and tried again soon.
      if (request.key === '' && request.type !== CommandType.OPEN_SESSION) this.#resolve(request)
      return
    }
    const pending = {
      onResult: (records: Views, base: number) => this.#onResult(request, records, base),
      onDeadline: () => undefined,
    }
    const correlation = register(engine, pending, account, credits, way, 1e9)
    const at = slotAt(engine)
    request.send(engine, at, correlation, this.#caller)
    this.#around.posted(engine, at, request)
    send(engine)
    request.sentAt = this.#around.monotonicMs()
  }

  #request(type: CommandType, send: Request['send'], key = ''): Request {
    return { type, key, send, sentAt: -Infinity }
  }

  #next(): Request | null {
    const { random } = this.#around
    if (this.#caller.session < 0) return this.#signIn()
    const dice = random.below(100)
    if (!this.#funded || (this.#script === null && dice < 3)) {
      return this.#request(CommandType.MINT, (engine, at, correlation, caller) => encodeMint(engine, at, correlation, caller, -1))
    }
    const state = this.#around.state()
    if (this.#script !== null) {
      const draft = state === null ? null : this.#script.next(this.#asker(state))
      return draft === null ? null : { ...draft, sentAt: -Infinity }
    }
    const { swarm } = this.#around
    const ofProgram = state === null ? null : this.#ofProgram(state)
    if (ofProgram !== null) return ofProgram
    if (swarm.waiting > 0 && state !== null && random.below(100) < swarm.waiting) {
      return { ...waitingRequest(this.#asker(state), this.#around.wallMs()), sentAt: -Infinity }
    }
    if (swarm.perps && state !== null && random.below(100) < swarm.margin) {
      return { ...marginRequest(this.#asker(state)), sentAt: -Infinity }
    }
    if (dice < 70 || this.#orders.length === 0) return this.#place()
    if (dice < 80) return this.#replace()
    if (dice < 94) return this.#cancel()
    if (dice < 97) return this.#cancelAll()
    const type = dice < 99 ? CommandType.REFRESH_SESSION : CommandType.REVOKE_SESSION
    return this.#request(type, (engine, at, correlation, caller) => encodeSession(engine, at, type, correlation, caller))
  }

  #ofProgram(state: State): Request | null {
    const { random, swarm } = this.#around
    for (const { name, request } of PROGRAMS) {
      const weight = swarm.programs[name]!
      const draft = weight > 0 && random.below(100) < weight ? request(this.#asker(state)) : null
      if (draft !== null) return { ...draft, sentAt: -Infinity }
    }
    return null
  }

  #asker(state: State): Asker {
    const { random, swarm } = this.#around
    return {
      random, swarm, state, account: this.#caller.account, number: this.number, terms: () => this.#terms(), key: () => this.#newKey(),
    }
  }

  #signIn(): Request {
    const { swarm } = this.#around
    const address = addressOf(this.#wallet)
    const applications = swarm.programs['builder'] === 0 ? 1 : APPLICATIONS
    const application = this.#wallet % applications
    const state = swarm.programs['referrals']! > 0 ? this.#around.state() : null
    const referrer = state === null ? null : referrerNow(state, application, this.#wallet - applications)
    const publicKey = String(this.number + 1).padStart(64, '0')
    return this.#request(CommandType.OPEN_SESSION, (engine, at, correlation) =>
      encodeOpenSession(engine, at, correlation, application, address, publicKey, -1, referrer))
  }

  #newKey(): string {
    return `${this.number}/${++this.#keys}`
  }

  #terms(): OrderTerms {
    const { random, pairs } = this.#around
    const flags = (random.below(2) === 0 ? Flag.SELL : 0) | [0, 0, 0, 0, 0, Flag.IOC, Flag.POST_ONLY, Flag.MARKET][random.below(8)]!
    const expires = random.below(6) === 0
    return {
      pair: random.below(pairs), pairId: '', flags: flags | (expires ? Flag.EXPIRES : 0), options: 0,
      price: (flags & Flag.MARKET) !== 0 ? 0 : 500 + random.below(9) - 4, lots: 1 + random.below(8), slippageBps: 0,
      expiresAt: expires ? this.#around.wallMs() + 50 + random.below(2000) : 0,
      clientOrderId: '', key: this.#newKey(), targetSlot: 0, targetSequence: 0, named: null, margin: null, legs: null,
      returnFills: false,
    }
  }

  #place(): Request {
    const terms = this.#terms()
    return this.#request(CommandType.PLACE_ORDER, (engine, at, correlation, caller) =>
      encodeOrder(engine, at, CommandType.PLACE_ORDER, correlation, caller, terms), terms.key)
  }

  #anyOrder(): Order {
    return this.#orders[this.#around.random.below(this.#orders.length)]!
  }

  #replace(): Request {
    const target = this.#anyOrder()
    const drawn = this.#terms()
    const options = this.#around.random.below(2) === 0 ? Option.NEW_PRICE | Option.NEW_LOTS : Option.NEW_LOTS
    const price = (options & Option.NEW_PRICE) !== 0 ? Math.max(1, drawn.price) : 0
    const terms = { ...drawn, flags: 0, options, price, expiresAt: 0, targetSlot: target.slot, targetSequence: target.sequence }
    return this.#request(CommandType.REPLACE_ORDER, (engine, at, correlation, caller) =>
      encodeOrder(engine, at, CommandType.REPLACE_ORDER, correlation, caller, terms), terms.key)
  }

  #cancel(): Request {
    const { slot, sequence } = this.#anyOrder()
    return this.#request(CommandType.CANCEL_ORDER, (engine, at, correlation, caller) =>
      encodeCancel(engine, at, correlation, caller, slot, sequence))
  }

  /** Now, at a deadline that is set or taken away, or as if a connection opened, was kept or ended. */
  #cancelAll(): Request {
    const dice = this.#around.random.below(8)
    const afterMs = dice === 0 ? DISARM : 1 + this.#around.random.below(1500)
    return this.#request(CommandType.CANCEL_ALL, (engine, at, correlation, caller) => {
      if (dice < 3) encodeDeadline(engine, at, correlation, caller, afterMs)
      else if (dice === 3) encodeAtEnd(engine, at, correlation, caller, this.#madeBy, 1, afterMs % 4 !== 0)
      else if (dice < 6) encodeOpened(engine, at, correlation, caller, afterMs)
      else encodeCancelAll(engine, at, correlation, caller, -1, SWEEP, { slot: 0, sequence: 0 })
    })
  }

  #onResult(request: Request, records: Views, base: number): void {
    const code = records.i32[base + RESULT.at.code]!
    if (code === SESSION_INVALID) this.#caller.session = -1
    // It goes on with what it has.
    if (code === FAUCET_LIMIT) this.#funded = true
    if (code === KEY_CONFLICT) throw new Violation(`client ${this.number}: key ${request.key} is said to have another payload`)
    if (request.key !== '' && code === 0) this.#acknowledged(request, records, base)
    if (code === 0) this.#learn(request, records, base)
    const open = this.requests.includes(request)
    this.#resolve(request)
    // Not by the answer to one that was sent twice.
    if (code !== 0 || !open || SIGNING_IN.includes(request.type)) return
    this.#script?.acknowledged(records.f64[(base + RESULT.at.sequence) >>> 1]!)
  }

  /** A key is acknowledged once, or several times as the same order or move. */
  #acknowledged({ key, type }: Request, records: Views, base: number): void {
    const order = { slot: records.i32[base + RESULT.at.slot]!, sequence: identityIn(type, records, base) }
    const known = this.ledger.get(key)
    if (known === undefined) {
      this.ledger.set(key, order)
      if (!MOVES.includes(type)) this.#orders.push(order)
      if (this.#orders.length > 12) this.#orders.shift()
    } else if (known.sequence !== order.sequence || known.slot !== order.slot) {
      throw new Violation(`client ${this.number}: key ${key} was order ${known.sequence}, now it is ${order.sequence}`)
    }
  }

  #learn({ type }: Request, records: Views, base: number): void {
    if (type === CommandType.MINT) this.#funded = true
    else if (type === CommandType.REVOKE_SESSION) this.#caller.session = -1
    else if (type === CommandType.OPEN_SESSION) {
      this.#caller.account = records.i32[base + RESULT.at.account]!
      this.#madeBy = records.f64[(base + SESSION_ANSWER.at.accountSequence) >>> 1]!
      this.#caller.session = records.i32[base + RESULT.at.detail]!
      this.#caller.generation = records.u32[base + RESULT.at.detail2]!
    }
  }
}
