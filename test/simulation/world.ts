/**
 * The simulated machine: one disk, one clock, and on it the exchange: the real sequencer with the real recovery, rings and engine, two
 * gateways' real bridges and the operator's, the real snapshot follower; and outside of it the clients and the auditor. One turn after
 * the other, everything drawn from one seed: the same seed is the same run, to the byte.
 *
 * Crashes happen where the exchange touches the outside (`#reached`): before and after each operation of the disk, between applying a
 * batch and answering it, and after. A crash is armed for the k-th such place from now. Then the process is gone with its rings and its
 * state; a power failure takes what was not synced too, and now and then what was (losses.ts). Answers that were published by then may
 * have been sent or not. Then the exchange starts again, and the auditor looks.
 */
import { createHash, type Hash } from 'node:crypto'
import type { Io } from '../../core/lib/io.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { createReader, read } from '../../core/ring/broadcast.ts'
import { DISK, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { available, front } from '../../core/ring/spsc.ts'
import { createSnapshotter } from '../../core/recovery/snapshotter.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { step } from '../../core/sequencer/loop.ts'
import { startMatcher } from '../../core/sequencer/matcher.ts'
import type { FromThread } from '../../core/threads.ts'
import { drain, type EngineClient } from '../../gateway/bridge/engine_client.ts'
import { Auditor } from './auditor.ts'
import { castOf, type Cast } from './cast.ts'
import { LOSSES, SimulatedDisk } from './disk.ts'
import { genesisWith, START_MS } from './genesis.ts'
import { SimulatedHistory } from './history.ts'
import { HEAD, SimulatedJournal } from './journal.ts'
import { allocate, bridgeOn, GATEWAYS, replyAt, visibleTooEarly, watchPlaces, type Life, type Recovered } from './machine.ts'
import { DECISIONS, Losses, NO_WORDS, type Words } from './losses.ts'
import { SimulatedSnapshots } from './snapshots.ts'
import { LifeQuestions } from './questions.ts'
import { swarmOf, type Swarm } from './swarm.ts'
import { Crash, FollowerDied, Violation } from './violation.ts'

const [HOUR, SNAPSHOT_EVERY, CONFIG] = [3_600_000, 40, { batchMax: 12, spin: 0, clockJumpMs: 1000, clockGapSeconds: 86_400 }] as const

export interface Report {
  readonly turns: number
  /** Of everything that happened. */
  readonly digest: string
  readonly counts: Readonly<Record<string, number>>
}

export class World {
  readonly #random: Prng
  readonly #disk: SimulatedDisk
  readonly #snapshots: SimulatedSnapshots
  /** In one run of three: it costs as much as everything else. */
  readonly #history: SimulatedHistory | null
  readonly #losses: Losses
  readonly #swarm: Swarm
  readonly #genesis: string
  readonly #auditor: Auditor
  readonly #cast: Cast
  readonly #trace: Hash = createHash('sha256')
  readonly #counts: Record<string, number> = {}
  readonly #io: Io
  #life: Life | null = null
  #turns = 0
  #wall = START_MS
  #monotonic = 1_000
  /** Places until the armed crash; Infinity: none. */
  #fuse = Infinity
  /** Kills the follower alone. */
  #followerFuse = Infinity
  #inFollower = false
  #followerDied = false
  /** Turns that the matcher goes on not getting to run. */
  #stalled = 0
  #powerFails = false
  /** The running exchange was started by an operator's word about a loss, just now. */
  #lossAccepted = false
  #syncsFail = 0
  #error: unknown = null
  /** Why the exchange ends, while it does; it may wrap what it is told. */
  #crash: Crash | 'sync' | null = null
  #violation: Violation | null = null

  /** `history`: whether it has the follower of the history, which is drawn otherwise. */
  constructor(seed: number, history?: boolean) {
    this.#random = createPrng(seed)
    this.#swarm = swarmOf(seed)
    this.#genesis = genesisWith(this.#swarm.perps)
    this.#auditor = new Auditor(this.#genesis, GATEWAYS + 1)
    // Drawn apart, so that the exchange may draw more or less without changing what the world does.
    const own = createPrng(seed ^ 0x5eed)
    this.#io = {
      monotonicOrigin: 0,
      now: () => this.#wall,
      seconds: () => this.#monotonic / 1000,
      random: (bytes) => Buffer.from(Array.from({ length: bytes }, () => own.below(256))),
      freeBytes: () => 2 ** 40,
      syncDirectory: () => this.#disk.syncNames(),
    }
    this.#disk = new SimulatedDisk({
      random: this.#random,
      reached: (operation) => this.#reached(operation),
      syncFails: (file) => this.#syncFails(file),
    })
    this.#snapshots = new SimulatedSnapshots(this.#disk)
    this.#losses = new Losses(this.#disk, this.#random)
    const drawn = !this.#chance(2, 3)
    this.#history = !(history ?? drawn) ? null : new SimulatedHistory({
      journal: () => new SimulatedJournal(this.#disk, undefined, () => this.#reached('history reads')),
      snapshots: this.#snapshots, io: this.#io,
    })
    this.#cast = castOf({
      random: this.#random, swarm: this.#swarm, auditor: this.#auditor, life: () => this.#life, wallMs: () => this.#wall,
      monotonicMs: () => this.#monotonic, count: (name) => this.#count(name),
    })
  }

  /** Runs `turns` turns with everything that may go wrong, then lets everybody finish. Throws {@link Violation}. */
  run(turns: number): Report {
    try {
      return this.#run(turns)
    } finally {
      this.#history?.end()
    }
  }

  #run(turns: number): Report {
    while (this.#turns < turns) this.#turn(true)
    for (let quiet = 0; quiet < 400 && !this.#isQuiet(); quiet++) this.#turn(false)
    if (!this.#isQuiet()) throw new Violation('without any fault something was never answered, liquidated, paid or read from the chain')
    this.#end()
    for (const [name, count] of this.#auditor.seen) this.#counts[name] = count
    Object.assign(this.#counts, { batches: this.#auditor.batches, commands: this.#auditor.commands })
    return { turns: this.#turns, digest: this.#trace.digest('hex'), counts: this.#counts }
  }

  get turns(): number {
    return this.#turns
  }

  /**
   * All is answered, and the exchange is up: only then has the auditor read all that was answered as it died. And nothing is left for the
   * timers of liquidation.
   */
  #isQuiet(): boolean {
    if (this.#life === null || !this.#cast.clients.every((client) => client.quiet)) return false
    const { clock, state } = this.#life.sequencer
    if (this.#cast.chain?.isCalm(state) === false) return false
    return !this.#swarm.perps || (!clock.waits && this.#auditor.undone(clock.now()) === 0)
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
    this.#trace.update(name)
  }

  /** True `n` times of `of`. */
  #chance(n: number, of: number): boolean {
    return this.#random.below(of) < n
  }

  /** A place where something may end. */
  #reached(place: string): void {
    this.#trace.update(place)
    const early = this.#life === null ? null : visibleTooEarly(this.#life)
    if (early !== null) this.#violated(early)
    if (this.#inFollower && --this.#followerFuse < 0) {
      this.#followerFuse = Infinity
      this.#followerDied = true
      this.#count('follower killed')
      throw new FollowerDied(place)
    }
    if (--this.#fuse >= 0) return
    this.#fuse = Infinity
    this.#count(this.#powerFails ? 'power failures' : 'kills')
    this.#count(`crash: ${place.replace(/[0-9]{16}/, 'n')}`)
    this.#crash = new Crash(place, this.#powerFails)
    throw this.#crash
  }

  /** Said where the exchange would catch what is thrown. */
  #violated(message: string): never {
    this.#violation ??= new Violation(message)
    throw this.#violation
  }

  #syncFails(file: string): boolean {
    if (this.#inFollower || this.#syncsFail === 0 || !file.startsWith('journal/data')) return false
    this.#syncsFail--
    this.#count('failed syncs')
    this.#crash = 'sync'
    return true
  }

  #turn(faults: boolean): void {
    this.#turns++
    this.#passTime(faults)
    if (faults) this.#arm()
    else this.#disarm()
    try {
      this.#life ??= this.#start()
      this.#work(this.#life, faults)
    } catch (error) {
      this.#ended(error)
    }
  }

  #work(life: Life, faults: boolean): void {
    for (const client of this.#cast.clients) client.act(faults)
    if (this.#chance(1, 40)) this.#cast.operator.seeClock(life)
    if (this.#swarm.perps) this.#cast.operator.act(life)
    if (faults) this.#cast.drill?.act(life)
    this.#cast.operate(life, faults)
    if (faults && this.#stalled === 0 && this.#chance(1, 60)) this.#stalled = 1 + this.#random.below(30)
    // Now and then the matcher does not get to run for a while, and the rings fill.
    if (faults && this.#stalled > 0) this.#stalled--
    else this.#step(life)
    this.#takeEvents(life)
    for (const engine of [...life.bridges, life.operator]) if (!faults || this.#chance(2, 3)) this.#drain(engine)
    if (this.#chance(1, 8)) this.#syncHead()
    if (this.#chance(1, 4)) this.#follow(life)
    if (faults && this.#chance(1, 30)) this.#losses.remember()
    if (this.#history !== null && this.#chance(1, 4)) this.#followHistory(this.#history)
    this.#audit(life)
  }

  #step({ sequencer, questions }: Life): void {
    questions.ask()
    const changed = this.#chance(1, 4) && questions.changed(sequencer.clock.now())
    if (changed) this.#count('previews that change nothing')
    this.#trace.update(String(step(sequencer)))
    const { answers } = questions
    questions.look()
    if (questions.answers > answers) this.#count('questions answered')
  }

  #passTime(faults: boolean): void {
    const gap = this.#swarm.perps && this.#chance(this.#swarm.gaps, 1000)
    const ms = gap ? this.#random.below(this.#swarm.gapMs) : this.#chance(1, 20) ? this.#random.below(1500) : this.#random.below(20)
    this.#monotonic += ms
    this.#wall += ms
    if (!faults || !this.#chance(1, 150)) return
    this.#count('clock jumps')
    this.#wall += (this.#random.below(2) === 0 ? 1 : -1) * this.#random.below(this.#chance(1, 4) ? 40 * HOUR : HOUR)
  }

  #arm(): void {
    // What a loss left behind is met by the start after the next one, if that comes before everything is written anew.
    const soon = this.#lossAccepted && this.#chance(1, 2)
    this.#lossAccepted = false
    if (this.#fuse === Infinity && (soon || this.#chance(1, 25))) {
      this.#fuse = this.#random.below(16)
      this.#powerFails = this.#chance(2, 3)
    }
    if (this.#followerFuse === Infinity && this.#chance(1, 60)) this.#followerFuse = this.#random.below(8)
    if (this.#syncsFail === 0 && this.#chance(1, 200)) this.#syncsFail = 1
  }

  /** Nothing goes wrong until {@link #arm}. */
  #disarm(): void {
    this.#fuse = Infinity
    this.#followerFuse = Infinity
    this.#syncsFail = 0
  }

  /** The matcher on what the disk has. */
  #recover(decided: Words): Recovered {
    const shared = allocate()
    const counters = matcherCounters(shared.counters)
    counters[MATCHER.disk_level] = DISK.OPEN
    const journal = new SimulatedJournal(this.#disk)
    const sequencer = startMatcher({
      config: { ...CONFIG, ...decided }, shared, io: this.#io, journal,
      snapshots: this.#snapshots,
      sources: () => [...this.#snapshots.sources(), ...(this.#history === null ? [] : [this.#history.source()])],
      rename: (from, to) => this.#snapshots.rename(from, to) || this.#history?.rename(from, to) === true,
      genesis: { read: () => this.#genesis, check: () => undefined },
      say: (message) => this.#heard(message),
    })
    return { shared, counters, journal, sequencer }
  }

  /** The same, by an operator who accepts what the exchange says is lost. */
  #recoverBy(decided: Words, tries: number): Recovered {
    try {
      return this.#recover(decided)
    } catch (error) {
      const decision = tries === 0 || this.#crash !== null ? null : this.#losses.decide(error, this.#auditor.sequence)
      if (decision === null) throw error
      this.#count(decision.cutTail > 0 ? 'tails cut' : 'losses accepted')
      this.#auditor.rewind(decision.end)
      this.#cast.loses(decision.end)
      this.#history?.forget()
      return this.#recoverBy(decision, tries - 1)
    }
  }

  /** Starts the exchange on what the disk has. */
  #start(): Life {
    this.#count('starts')
    const { shared, counters, journal, sequencer } = this.#recoverBy(NO_WORDS, DECISIONS)
    this.#lossAccepted = this.#losses.started()
    watchPlaces(sequencer, (place) => this.#reached(place))
    this.#auditor.follow(journal)
    this.#auditor.died()
    this.#auditor.compare(sequencer.state, sequencer.eventsChecksum)
    this.#cast.chain?.check(sequencer.state)
    const lanes = shared.lanes.map((lane, number) => bridgeOn(shared, lane, number, (error) => (this.#error ??= error)))
    const [operator, ...bridges] = lanes as [EngineClient, ...EngineClient[]]
    const questions = new LifeQuestions(sequencer, shared.lanes)
    return { journal, sequencer, counters, operator, bridges, events: createReader(sequencer.events, 512), questions, follower: null }
  }

  #heard(message: FromThread): void {
    // The history's directory has another name in each run.
    if (message.type === 'log') this.#trace.update(message.message.replace(/\S*ringbook-simulated-\w+/, ''))
    if (message.type !== 'log' || this.#losses.open) return
    if (/is skipped|damaged|does not say|made anew/.test(message.message) && !/head/.test(message.message)) {
      // Whoever reads may catch the end of its process, and takes it for damage.
      if (this.#crash instanceof Crash) throw this.#crash
      if (this.#followerDied) throw new FollowerDied('what it read')
      throw new Violation(`what was written whole cannot be read: ${message.message}`)
    }
  }

  #takeEvents({ events }: Life): void {
    for (let count = read(events); count !== 0; count = read(events)) {
      if (count < 0) throw new Violation('the reader of the event ring was lapped')
      for (let record = 0; record < count; record++) {
        const at = record * RECORD_WORDS
        this.#auditor.told(new Uint8Array(events.copy.slice(at, at + RECORD_WORDS).buffer))
      }
    }
  }

  /** A gateway takes its answers and gives them to the clients. */
  #drain(engine: EngineClient): void {
    const { replies } = engine
    for (let index = 0; index < available(replies); index++) {
      this.#auditor.answered(engine.gateway, replyAt(replies, front(replies, index)))
    }
    drain(engine)
    if (this.#error !== null) throw this.#error
  }

  /** Once a second another thread makes the head file durable (core/journal/room.ts). */
  #syncHead(): void {
    this.#disk.find(HEAD)?.sync()
  }

  #follow(life: Life): void {
    this.#inFollower = true
    try {
      life.follower ??= createSnapshotter({
        journal: new SimulatedJournal(this.#disk), snapshots: this.#snapshots, io: this.#io, every: SNAPSHOT_EVERY, keep: 3,
        warn: (text) => this.#heard({ type: 'log', level: 'warn', message: text }),
        beat: () => undefined,
        written: () => this.#count('snapshots'),
        audited: ({ broken }) => {
          if (broken !== null) throw new Violation(`the audit of the follower: ${broken}`)
        },
      })
      life.follower.follow(64)
    } catch (error) {
      life.follower = null
      this.#unlessKilled(error)
    } finally {
      this.#inFollower = false
    }
  }

  /** The follower alone was killed: the exchange goes on. */
  #unlessKilled(error: unknown): void {
    if (!this.#followerDied) throw error
    this.#followerDied = false
  }

  #followHistory(history: SimulatedHistory): void {
    this.#inFollower = true
    try {
      history.turn((text) => this.#heard({ type: 'log', level: 'warn', message: text }))
      if (this.#chance(1, 10)) history.remember()
    } catch (error) {
      history.kill()
      this.#unlessKilled(error)
    } finally {
      this.#inFollower = false
    }
  }

  #audit({ journal, sequencer, follower }: Life): void {
    this.#auditor.follow(journal)
    if (this.#turns % 50 !== 0) return
    const { state } = sequencer
    this.#auditor.compare(state, sequencer.eventsChecksum)
    this.#cast.chain?.check(state)
    this.#trace.update(stateDigest(state))
    if (this.#history?.compare(state) === true) this.#count('history compared')
    if (follower === null || follower.state.clock[CLOCK.SEQUENCE] !== state.clock[CLOCK.SEQUENCE]) return
    if (stateDigest(follower.state) !== stateDigest(state)) throw new Violation('the follower has another state than the exchange')
    this.#count('follower compared')
  }

  /** What is left of the exchange when it ended this way. */
  #ended(error: unknown): void {
    const crash = this.#crash
    this.#crash = null
    if (this.#violation !== null) throw this.#violation
    if (error instanceof Violation) throw error
    if (crash === null) throw new Violation(`the exchange ended by itself: ${(error as Error).stack}`, { cause: error })
    const life = this.#life
    this.#life = null
    if (life !== null) this.#last(life)
    for (const client of this.#cast.clients) client.lost()
    this.#cast.drill?.died()
    this.#history?.kill()
    if (!(crash instanceof Crash) || !crash.power) return
    if (this.#chance(1, 2)) this.#history?.fallBack(this.#chance(1, 6))
    const strikes = !this.#losses.open && this.#chance(1, 4)
    if (strikes) this.#losses.keepHead()
    this.#disk.fail(LOSSES[this.#random.below(LOSSES.length)]!)
    if (strikes) this.#strike()
  }

  /** More than power fails. What was let out by then is known before it is lost. */
  #strike(): void {
    this.#syncsFail = 0
    this.#auditor.follow(new SimulatedJournal(this.#disk))
    const what = this.#losses.strike(this.#snapshots.list()[0] ?? 0)
    if (what !== null) this.#count(what)
  }

  /** What was published when the exchange died may have been sent. */
  #last(life: Life): void {
    this.#takeEvents(life)
    for (const engine of [...life.bridges, life.operator]) if (this.#chance(1, 2)) this.#drain(engine)
  }

  /** Everything acknowledged is there, exactly once, also after one more start. */
  #end(): void {
    const look = (): void => this.#cast.clients.forEach((client) => client.look((key) => this.#auditor.accepted(key)))
    look()
    this.#life = null
    // Nobody decides about what would be lost in this start.
    this.#disarm()
    this.#disk.fail('all')
    this.#life = this.#start()
    look()
    this.#history?.verify()
  }
}
