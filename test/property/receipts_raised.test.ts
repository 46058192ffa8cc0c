/**
 * Promise: raised at whatever moment, limits of receipts change nothing but how many there may be: random keyed orders, over days, over
 * pages of their own, over receipts that were forgotten, are answered as by the naive exchange, which has a plain list. An engine that
 * keeps pages in files and one that is loaded from its snapshots now and then come to the same state.
 *
 * One run again: SEED=7 ROUNDS=1 npm test -- test/property/receipts_raised.test.ts
 */
import t, { type Test } from 'tap'
import {
  ACCEPT_LOSS_COMMAND, COMMAND_SLOTS, CommandType, Flag, kindOf, MINT_COMMAND, OPEN_SESSION_COMMAND, Option, ORDER_COMMAND,
} from '../../core/layout/command.ts'
import { LIMITS_IN_FORCE_COMMAND, RAISABLE, RAISE_LIMIT_COMMAND } from '../../core/layout/limits.ts'
import { decode, encode, RECORD_BYTES, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { RESULT } from '../../core/layout/event.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { loadSnapshot, pruneSnapshots, receiptPagesOf, writeSnapshot } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { RULES } from '../../core/state/rules.ts'
import { createState } from '../../core/state/state.ts'
import { NaiveExchange } from '../support/naive.ts'
import { benchOf, compareEvents, type Bench } from '../support/naive_compare.ts'
import { encodeEvents } from '../support/naive_events.ts'
import { DAY, directory, filesIn, keyOf, TIME } from '../support/receipt_stage.ts'
import { genesisText, pairSpec } from '../support/variants.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const SEED = seedOf()
/** Commands of a round, and those that a day ends. */
const [COMMANDS, FLOOD] = [4000, 2000]
const CLIENTS = 24
t.comment(`SEED=${SEED} ROUNDS=1 npm test -- test/property/receipts_raised.test.ts`)

const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
const limitOf = (name: string): number => RAISABLE.findIndex(([each]) => each === name)

class Duel {
  readonly #t: Test
  readonly #random: ReturnType<typeof createPrng>
  readonly #dataDir: string
  readonly #source: string
  readonly #files: ReturnType<typeof filesIn>
  readonly #engine: Bench
  #twin: Bench
  readonly #naive: NaiveExchange
  readonly #signed: Decoded[] = []
  #time = TIME
  #key = 0
  /** What came about, so that rounds in which nothing does are seen. */
  readonly seen = { raised: 0, forgotten: 0, repeated: 0, refused: 0, inFiles: 0 }

  constructor(t: Test, seed: number) {
    const random = createPrng(seed)
    const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!
    this.#t = t
    this.#random = random
    this.#dataDir = directory(t)
    this.#source = genesisText({
      limits: {
        receipts: pick([16, 100, 113, 8000, 8000]), receiptPages: pick([0, 1, 66, 70, 95]), accounts: 64, sessionLifetimeMs: 300 * DAY,
      },
      dailyLimit: 2, pairs: [pairSpec('BTC/USD')], assets: [['USD', 6, '1000000'], ['BTC', 8, '100']], rules: pick([0, RULES, RULES]),
    })
    this.#files = filesIn(this.#dataDir)
    const genesis = parseGenesis(this.#source)
    this.#engine = benchOf(createState(genesis, createOutbox(4096), [1, 2], this.#files))
    this.#twin = benchOf(createState(genesis))
    this.#naive = new NaiveExchange(genesis)
    for (let client = 0; client < CLIENTS; client++) this.#signIn(client)
  }

  #below = (n: number): number => this.#random.below(n)
  #scalar = (name: keyof typeof SCALAR): number => this.#engine.state.scalars[SCALAR[name]]!

  /** The RESULT of a command, which all three answer alike. */
  #run(layout: Layout, type: CommandType, lane: number, values: Decoded): Decoded {
    encode(layout, command, 0, { kind: kindOf(type, 1, lane), ...values })
    const expected = encodeEvents(this.#naive.apply(decode(layout, command, 0), this.#time))
    for (const { run, said } of [this.#engine, this.#twin]) compareEvents(said, run(command, 0, this.#time), expected)
    return decode(RESULT, expected, expected.i32.length - 32)
  }

  #signIn(client: number): void {
    const name = (client + 16).toString(16)
    const wallet = { session: -1, address: name.repeat(20), publicKey: name.repeat(32), application: 0 }
    const { detail, detail2 } = this.#run(OPEN_SESSION_COMMAND, CommandType.OPEN_SESSION, 1, wallet)
    this.#signed.push({ session: detail!, sessionGeneration: detail2! })
    this.#run(MINT_COMMAND, CommandType.MINT, 1, { ...this.#signed[client], asset: -1 })
  }

  /** Mostly a new key, else one of before, now and then with another payload; a client has its own keys. */
  #order(old = this.#key > 0 && this.#below(6) === 0): void {
    const n = old ? Math.max(0, this.#key - 1 - this.#below([50, FLOOD][this.#below(2)]!)) : this.#key++
    const payload = this.#below(40) === 0 ? '01' : '00'
    const { code, flags } = this.#run(ORDER_COMMAND, CommandType.PLACE_ORDER, 1, {
      ...this.#signed[n % CLIENTS], flags: (n % 2 === 0 ? Flag.SELL : 0) | (n % 11 === 0 ? 0 : Flag.IOC), options: Option.KEYED,
      price: 1000 + (n % 2), lots: this.#below(50) === 0 ? 0 : 1 + (n % 7), key: keyOf(n), payload: payload.repeat(16),
    })
    if (code !== 0) this.seen.refused++
    else if ((Number(flags) & Flag.REPEATED) !== 0) this.seen.repeated++
  }

  #raise(): void {
    const limit = this.#below(5) === 0 ? 'accounts' : 'receipts'
    const now = this.#naive.listed.raised.get(limit) ?? this.#naive.genesis.limits[limit]
    const value = Math.min(20_000, now + [1, this.#below(400), now, 4000, 4000][this.#below(5)]!)
    this.#run(RAISE_LIMIT_COMMAND, CommandType.RAISE_LIMIT, 0, { session: -1, limit: limitOf(limit), value })
  }

  #putInForce(): void {
    const { code } = this.#run(LIMITS_IN_FORCE_COMMAND, CommandType.LIMITS_IN_FORCE, 0, { session: -1 })
    if (code !== 0) return
    this.seen.raised++
    this.#check()
  }

  /** Sequences go so far ahead that the next receipts begin a page, as long as the room has pages to give up early. */
  #turnPage(): void {
    if (this.#scalar('RECEIPT_TAIL_PAGE') - this.#scalar('RECEIPT_HEAD_PAGE') > 55) return
    const resume = this.#engine.state.clock[CLOCK.SEQUENCE]! + 2 ** 31
    this.#run(ACCEPT_LOSS_COMMAND, CommandType.ACCEPT_LOSS, 0, { session: -1, resume })
  }

  #check(): void {
    checkInvariants(this.#engine.state)
    checkInvariants(this.#twin.state)
    const [engine, twin] = [this.#engine, this.#twin].map(({ state }) => stateDigest(state))
    if (engine !== twin) throw new Error('the twin has another state')
  }

  /** The twin goes on from a snapshot. */
  #reload(): void {
    this.#files.sync()
    const { state } = this.#engine
    writeSnapshot(this.#dataDir, state, this.#source, 1, 2)
    pruneSnapshots(this.#dataDir, 1)
    const sequence = state.clock[CLOCK.SEQUENCE]!
    const { from, to } = receiptPagesOf(this.#dataDir, sequence)
    this.seen.inFiles = Math.max(this.seen.inFiles, to - from)
    const first = Math.max(this.#scalar('RECEIPT_HEAD_PAGE'), this.#scalar('RECEIPT_TAIL_PAGE') - state.receiptRoom.memoryPages + 1)
    this.#t.ok(from === this.#scalar('RECEIPT_HEAD_PAGE') && to === first, 'the snapshot says which pages it leaves to files')
    this.#twin = benchOf(loadSnapshot(this.#dataDir, sequence).state)
    this.#check()
  }

  /** Orders come in floods, which days end. */
  step(index: number): void {
    const dice = this.#below(1000)
    this.#time += this.#below(100)
    if (dice < 5) this.#raise()
    else if (dice < 9) this.#putInForce()
    else if (dice < 16) this.#turnPage()
    else if (dice < 17) this.#time += this.#below(DAY / 8)
    else if (dice < 19) this.#reload()
    else this.#order()
    if (index % FLOOD === FLOOD - 1) this.#dayEnds()
    this.seen.forgotten = Math.max(this.seen.forgotten, this.#naive.receipts.filter(({ forgotten }) => forgotten).length)
  }

  /** What is left of a flood is forgotten in part, and perhaps raised then. */
  #dayEnds(): void {
    this.#time += DAY
    this.#order(true)
    if (this.#below(2) === 0) this.#order(true)
    if (this.#below(2) === 0) this.#raise()
    if (this.#below(2) === 0) this.#putInForce()
  }

  end(): void {
    this.#reload()
  }
}

t.test('random raises', async (t) => {
  for (const round of eachRound(t, { short: 1, deep: 300 })) {
    const seed = SEED + round
    const duel = new Duel(t, seed)
    let index = 0
    try {
      for (; index < COMMANDS; index++) duel.step(index)
      duel.end()
    } catch (error) {
      const again = `SEED=${seed} ROUNDS=1 npm test -- test/property/receipts_raised.test.ts`
      throw new Error(`command ${index}: ${(error as Error).message}\n${again}`, { cause: error })
    }
    t.ok(duel.seen.repeated > 0, `seed ${seed}: ${JSON.stringify(duel.seen)}`)
  }
})
