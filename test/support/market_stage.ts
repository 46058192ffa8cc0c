/**
 * The channels of a gateway thread in front of an exchange that only trades, without threads and clocks: the test says when a command is
 * applied, when its events are in the ring, when the history has it, when a question is answered, and what time it is. Fan-out, channels,
 * the store, its answers and the operations of REST are the real ones.
 */
import type { MessagePort } from 'node:worker_threads'
import { CLOCK } from '../../core/state/columns.ts'
import type { HistoryReply, HistoryRequest, HistoryTrade, QueryName } from '../../core/history/answer/queries.ts'
import { CommandType } from '../../core/layout/command.ts'
import { EventType, FILL, RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { broadcast, createBroadcast } from '../../core/ring/broadcast.ts'
import { GATEWAY_COUNTERS, HISTORY, HISTORY_COUNTERS } from '../../core/ring/counters.ts'
import { VAULT_WORDS } from '../../core/state/vault_rows.ts'
import { createHistory, type History } from '../../gateway/bridge/history.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Channel, Subscriber } from '../../gateway/ws/channels/channel.ts'
import { createChannels } from '../../gateway/ws/channels/index.ts'
import type { Call, Operation } from '../../gateway/operations/operation.ts'
import { FanOut } from '../../gateway/ws/fan_out.ts'
import type { Frame, Params } from '../../gateway/ws/frames.ts'
import { ask } from './history.ts'
import { MarketStore } from './market_store.ts'
import type { Frame as Heard } from './sockets.ts'

export interface Command {
  readonly sequence: number
  readonly trades: readonly HistoryTrade[]
}

/** Who listens: every frame it was sent, as JSON. */
export class StageListener implements Subscriber {
  readonly account = -1
  readonly frames: Heard[] = []
  hear: (frame: Heard) => void = () => undefined
  push(bytes: Frame): void {
    const frame = JSON.parse(bytes.toString()) as Heard
    this.frames.push(frame)
    this.hear(frame)
  }
}

export class MarketStage {
  readonly store = new MarketStore()
  readonly genesis = this.store.genesis
  readonly commands: Command[] = []
  /** Questions without an answer, oldest first. */
  questions: HistoryRequest[] = []
  /** Names of those that were asked so far. */
  readonly asked: QueryName[] = []
  readonly errors: unknown[] = []
  readonly gateway: Gateway
  readonly channels: ReadonlyMap<string, Channel>
  readonly fanOut: FanOut
  /** Times the fan-out made its sockets begin anew. */
  resyncs = 0
  /** The gateway's clock, Unix ms. */
  now: number
  /** Commands in the ring, and in the history. */
  told = 0
  recorded = 0
  readonly #clock = new Float64Array(16)
  readonly #ring = createBroadcast(65_536)
  readonly #counters = new Float64Array(HISTORY_COUNTERS.length)
  readonly #history: History
  #reply: (reply: HistoryReply) => void = () => undefined

  constructor(now: number) {
    this.now = now
    const port = {
      on: (event: string, listener: (reply: HistoryReply) => void) => {
        if (event === 'message') this.#reply = listener
      },
      postMessage: (request: HistoryRequest) => {
        this.questions.push(request)
        this.asked.push(request.name)
      },
      close: () => undefined,
    }
    const faults = new Faults((error) => this.errors.push(error))
    this.#history = createHistory([port as unknown as MessagePort], this.#counters, this.#clock, faults)
    this.up = true
    const { genesis } = this
    this.gateway = {
      genesis, history: this.#history, now: () => this.now, time: () => this.now,
      state: { clock: this.#clock, vaultF64: new Float64Array(VAULT_WORDS >>> 1) },
      pageTokenKey: Buffer.alloc(32),
      pairs: new Map(genesis.pairs.map((pair) => [pair.id.toLowerCase(), pair])),
    } as unknown as Gateway
    this.channels = createChannels(this.gateway)
    this.fanOut = new FanOut({
      ring: this.#ring, channels: this.channels, counters: new Float64Array(GATEWAY_COUNTERS.length), send: () => true, now: () => this.now,
      resync: () => void this.resyncs++, faults,
    })
  }

  /** Whether the history is there. */
  set up(is: boolean) {
    this.#counters[HISTORY.up] = is ? 1 : 0
  }

  get trades(): HistoryTrade[] {
    return this.commands.flatMap(({ trades }) => trades)
  }

  /** The engine applies a command at `time` with these trades; without any it is one that does not trade. */
  apply(time: number, fills: readonly { pair: number; price: number; lots: number }[] = []): void {
    const sequence = this.commands.length + 1
    const trades = fills.map(({ pair, price, lots }, index): HistoryTrade => ({
      pair, sequence, index, time, price, lots, quote: BigInt(price) * BigInt(lots) * this.genesis.pairs[pair]!.tickLotAtoms,
      makerSells: false, makerAccount: 1, takerAccount: 2, makerSequence: sequence, makerSlot: 1, takerSlot: 2, makerFee: 0n, takerFee: 0n,
    }))
    this.commands.push({ sequence, trades })
    this.#clock[CLOCK.SEQUENCE] = sequence
  }

  /** Puts the events of the next `count` commands into the ring. */
  tell(count = Infinity): void {
    for (const { sequence, trades } of this.commands.slice(this.told, this.told + count)) {
      const views = viewsOf(new ArrayBuffer((trades.length + 1) * RECORD_BYTES))
      trades.forEach(({ pair, index, time, price, lots, quote }, i) =>
        encode(FILL, views, i * RECORD_WORDS, { kind: EventType.FILL, pair, sequence, index, time, price, lots, quote }))
      const kind = EventType.RESULT | (CommandType.PLACE_ORDER << 8)
      encode(RESULT, views, trades.length * RECORD_WORDS, { kind, sequence, pair: -1, code: 1 })
      broadcast(this.#ring, views.i32, trades.length + 1)
      this.told++
    }
  }

  /** The history takes in the next `count` commands. */
  record(count = Infinity): void {
    for (const { sequence, trades } of this.commands.slice(this.recorded, this.recorded + count)) {
      for (const { pair, time, price, lots, index } of trades) this.store.trade(pair, time, price, lots, sequence, index)
      this.recorded++
    }
    this.store.flush()
  }

  /** Answers the oldest question, or that of this number; `fails`: that it cannot. */
  answer(number = 0, fails = false): void {
    const [question] = this.questions.splice(number, 1)
    if (question === undefined) return
    const { id, name } = question
    if (fails) return this.#reply({ id, failed: 'it is not to be' })
    const answer = structuredClone(ask(this.store.answers, name, question.ask))
    this.#reply({ id, answer, sequence: this.recorded })
  }

  /** Everything that happened is told and recorded, everything is answered, and time goes by until nobody waits for anything. */
  settle(): void {
    this.up = true
    this.tell()
    this.record()
    for (let round = 0; round < 12; round++) {
      this.now += 1_000
      this.fanOut.tick()
      while (this.questions.length > 0) this.answer()
    }
    this.fanOut.tick()
  }

  /** As a connection does, to what is subscribed to already when `again`; the answer says whether there is or will be a snapshot. */
  subscribe(listener: Subscriber, name: string, params: Params, again = false): boolean | string {
    const channel = this.channels.get(name)!
    const terms = channel.read(params)
    if (typeof terms === 'string') return terms
    if (!again) this.fanOut.count(1)
    let standing = false
    this.fanOut.betweenCommands(() => {
      standing = channel.subscribe(listener, terms)
    })
    return standing
  }

  unsubscribe(listener: Subscriber, name: string, params: Params): void {
    const channel = this.channels.get(name)!
    channel.unsubscribe(listener, channel.read(params) as Params)
    this.fanOut.count(-1)
  }

  /** What an operation of REST answers now. */
  rest<In, Out>(operation: Operation<In, Out>, input: In): Out {
    let answered: Out | undefined
    const call = { answer: (output: Out) => (answered = output), refuse: (refused: Error) => this.errors.push(refused) }
    operation.run(this.gateway, call as unknown as Call<Out>, input)
    while (this.questions.length > 0) this.answer()
    return answered!
  }

  close(): void {
    this.fanOut.close()
    clearInterval(this.#history.timer)
  }
}
