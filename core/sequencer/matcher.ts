/**
 * The matcher: recover, claim the journal, put the rules of this version in force, and stand ready to turn.
 *
 * Everything impure comes in as {@link MatcherParts}: clock and randomness, the storage of journal and snapshots, who
 * else knows how far the journal went, the genesis, and where messages go. thread.ts gives it the real ones and runs
 * the loop; a simulator gives it its own and calls `step` (loop.ts) itself. Nothing here and below it knows which.
 */
import type { Archive } from '../archive/archive.ts'
import { ArchiveError } from '../archive/segment.ts'
import type { Config } from '../config.ts'
import { InvariantBroken } from '../lib/assert.ts'
import type { Io } from '../lib/io.ts'
import { SystemFault } from '../lib/system_fault.ts'
import { CLOCK, LIMIT, SCALAR } from '../state/columns.ts'
import { GenesisError, parseGenesis } from '../state/genesis.ts'
import { checkSymbols } from '../state/genesis_symbols.ts'
import { prepareGrowth, raisedLimits } from '../state/growth.ts'
import { RULES } from '../state/rules.ts'
import type { State } from '../state/state.ts'
import { awaitsStart } from '../programs/limits.ts'
import { hasConnections } from '../orders/cancel_on_disconnect.ts'
import { AT_START, COMMAND_SLOTS, CommandType } from '../layout/command.ts'
import { genesisSlots, GENESIS_MAX_BYTES, writeGenesis } from '../journal/genesis_batch.ts'
import { SecondWriter } from '../journal/head_file.ts'
import { JournalError, ReadersFull } from '../journal/pages.ts'
import { endSequence, JournalFault } from '../journal/reader.ts'
import type { JournalStore } from '../journal/store.ts'
import { createWriter, type JournalWriter } from '../journal/writer.ts'
import { setAside, writeLoss, type Rename } from '../recovery/loss.ts'
import { catchUp, cutTail, rebuildNewest, type Rebuilt } from '../recovery/recover.ts'
import { Divergence } from '../recovery/replayer.ts'
import { naming, UnappliedBatch } from '../recovery/unapplied.ts'
import { JournalShort, shortfallOf, type Shortfall, type WitnessSource } from '../recovery/witnesses.ts'
import { attachBroadcast } from '../ring/broadcast.ts'
import { DISK, MATCHER, matcherCounters } from '../ring/counters.ts'
import type { SnapshotStore } from '../snapshot/store.ts'
import { EXIT, type FromThread, type Shared } from '../threads.ts'
import { SequencerClock } from './clock.ts'
import type { GenesisSource } from './genesis_file.ts'
import { checkKeys } from './genesis_keys.ts'
import { attachLanes } from './lanes.ts'
import { commitOwn, createSequencer, type Sequencer } from './loop.ts'
import { countState, createMeter } from './meter.ts'
import { createQuestions } from './questions.ts'

export interface MatcherParts {
  readonly config: Pick<Config, 'batchMax' | 'spin' | 'clockJumpMs' | 'clockGapSeconds' | 'acceptLoss' | 'cutTail'>
  readonly shared: Omit<Shared, 'columns'>
  readonly io: Io
  /** Open for writing. */
  readonly journal: JournalStore
  readonly snapshots: SnapshotStore
  /** What the journal does not go back to. Asked when no snapshot can be gone on from. */
  readonly archive?: () => Archive | null
  /** Who knows how far the journal went, besides its own head file; asked at each look. */
  readonly sources: () => readonly WitnessSource[]
  /** Renames what knows of a loss that is accepted, where it is no file. */
  readonly rename?: Rename
  readonly genesis: GenesisSource
  readonly say: (message: FromThread) => void
}

/** A commit threw: nothing of its batch was answered, and whether it is in the journal the next start will see. */
export class CommitFailed extends Error {
  override name = 'CommitFailed'
}

/** What a commit throws is CommitFailed, unless it is about the journal and not about the disk. */
function committing<T>(commit: () => T): T {
  try {
    return commit()
  } catch (error) {
    if (error instanceof SecondWriter || error instanceof JournalError) throw error
    throw new CommitFailed((error as Error).message, { cause: error })
  }
}

/** Slots of a batch: the longest command has room beside timers, which take half. */
const batchSlots = ({ batchMax }: MatcherParts['config']): number => Math.max(batchMax, 2 * COMMAND_SLOTS)

interface Recovered extends Rebuilt {
  /** What the operator accepts as lost. */
  readonly loss: Shortfall | null
  /** There was no exchange in the directory. */
  readonly created: boolean
}

/** Recovers what the journal has and takes it over for writing. Throws what {@link exitCode} knows. */
export function startMatcher(parts: MatcherParts): Sequencer {
  const { config, shared, io, say } = parts
  const recovered = recover(parts)
  const { replayer, genesis, created } = recovered
  const { state } = replayer
  const writer = openWriter(parts, recovered)
  const counters = matcherCounters(shared.counters)
  const bounds = { jumpMs: config.clockJumpMs, gapMs: config.clockGapSeconds * 1000 }
  const clock = new SequencerClock(io, state.clock[CLOCK.TIME]!, bounds, counters, (level, message, fields) =>
    say({ type: 'log', level, message, fields }),
  )
  const sequencer = createSequencer({
    state,
    clock,
    writer: {
      ...writer,
      commit: (...batch) => committing(() => {
        writer.dropBefore(counters[MATCHER.journal_archived]!)
        const bytes = writer.commit(...batch)
        counters[MATCHER.journal_first] = writer.first
        return bytes
      }),
    },
    lanes: attachLanes(shared.lanes),
    questions: createQuestions(shared.lanes.map(({ questions }) => questions)),
    events: attachBroadcast(shared.events as SharedArrayBuffer),
    gate: new Int32Array(shared.gate),
    wait: new Int32Array(shared.matcherWait),
    meter: createMeter(counters, io),
    warn: warning(parts),
    timersRest: () => counters[MATCHER.disk_level] === DISK.FULL,
    maxSlots: batchSlots(config),
    spin: config.spin,
    eventsChecksum: replayer.events,
  })
  raiseRules(sequencer, say)
  raiseLimits(sequencer, say)
  if (hasConnections(state)) commitOwn(sequencer, CommandType.CONTINUE_CANCEL, { account: -1, fires: AT_START })
  const sequence = state.clock[CLOCK.SEQUENCE]!
  say({ type: 'recovered', genesis: inForce(genesis, state), columns: state.buffers, sequence, created })
  return sequencer
}

const warning = ({ say }: MatcherParts) => (message: string): void => say({ type: 'log', level: 'warn', message })

/**
 * The genesis of a fresh directory is the configured file; an existing journal must have begun with the same document.
 * True: it was a fresh one.
 */
function beginJournal({ journal, genesis, io }: MatcherParts): boolean {
  if (endSequence(journal) > 0) return false
  const text = genesis.read()
  checkSymbols(parseGenesis(text))
  checkKeys(text)
  const writer = createWriter(journal, genesisSlots(GENESIS_MAX_BYTES), undefined, { io })
  committing(() => writeGenesis(writer, text, io.now()))
  writer.close()
  return true
}

/** What the journal lacks that others know of, if the operator accepts it; throws {@link JournalShort} if not. */
function acceptedLoss(parts: MatcherParts, accepted: number): Shortfall | null {
  const shortfall = shortfallOf(parts.journal, parts.sources(), warning(parts))
  if (shortfall === null) return null
  if (shortfall.end === 0 || shortfall.end !== accepted) throw new JournalShort(shortfall)
  return shortfall
}

/** Snapshot and journal tail; a last batch that is invalid, or that the engine cannot apply, is cut when the operator named it. */
function recover(parts: MatcherParts): Recovered {
  const { config, io, journal, say } = parts
  const warn = warning(parts)
  const started = io.seconds()
  let loss = acceptedLoss(parts, config.acceptLoss)
  if (loss === null && config.acceptLoss > 0) warn(`nothing is missing: --accept-loss ${config.acceptLoss} has no effect, take it away`)
  const created = beginJournal(parts)
  const newest = (): ReturnType<typeof rebuildNewest> => rebuildNewest(journal, parts.snapshots, warn, io, parts.archive)
  let rebuilt = newest()
  parts.genesis.check(rebuilt.genesis, (message) => say({ type: 'log', level: 'info', message }))
  const report = (p: { records: number; rate: number; secondsLeft: number }): void => say({ type: 'progress', stage: 'recovery', ...p })
  let records = 0
  try {
    records = catchUp(journal, naming(journal, rebuilt.replayer, parts.sources()), Infinity, io.seconds, report, rebuilt.archive)
  } catch (error) {
    if (!(error instanceof JournalFault) || (error instanceof UnappliedBatch && !error.unanswered)) throw error
    const known = Math.max(loss?.known ?? 0, endSequence(journal))
    const end = cutTail(journal, error, config.cutTail)
    warn(`the last batch at sequence ${error.fault.sequence} was cut as asked: what it held is lost (${error.message})`)
    const short = acceptedLoss(parts, end)
    loss = { end, known: Math.max(known, short?.known ?? 0), witnesses: short?.witnesses ?? [] }
    rebuilt = newest()
    records = catchUp(journal, rebuilt.replayer, Infinity, io.seconds, report, rebuilt.archive)
  }
  const counters = matcherCounters(parts.shared.counters)
  counters[MATCHER.recovered_records] = records
  counters[MATCHER.recovery_seconds] = io.seconds() - started
  countState(counters, rebuilt.replayer.state)
  return { ...rebuilt, loss, created }
}

/** The journal, opened for writing where recovery ended; a loss that the operator accepted is written into it first. */
function openWriter(parts: MatcherParts, { replayer, loss }: Recovered): JournalWriter {
  const { config, io, journal } = parts
  const warn = warning(parts)
  const writer = createWriter(journal, batchSlots(config), replayer.place, { loss: loss !== null, io })
  if (loss === null) return writer
  const resume = committing(() => writeLoss(journal, writer, replayer, loss.known))
  // Or a power failure soon would leave the file that knows what is lost, and the next start would ask once more.
  committing(() => writer.syncHead())
  const aside = setAside(loss, parts.rename)
  warn(`the loss of sequences ${loss.end + 1} to ${loss.known} is accepted and written into the journal; it goes on at ${resume}`)
  for (const name of aside) warn(`it knows what is lost and was put aside: ${name}`)
  return writer
}

/** What was journaled by an older version keeps its meaning; from here on the rules of this one are in force. */
function raiseRules(sequencer: Sequencer, say: MatcherParts['say']): void {
  const { scalars } = sequencer.state
  if (scalars[SCALAR.RULES]! >= RULES) return
  say({ type: 'log', level: 'info', message: `from now on the rules ${RULES} are in force`, fields: { before: scalars[SCALAR.RULES]! } })
  commitOwn(sequencer, CommandType.SET_RULES, { rules: RULES })
}

/** What the operator raised is in force from here on; the state moves to a memory that is large enough, which other threads see first. */
function raiseLimits(sequencer: Sequencer, say: MatcherParts['say']): void {
  const { state } = sequencer
  if (!awaitsStart(state)) return
  try {
    // What is journaled is in force in every replay: first it is seen whether there is memory for it.
    prepareGrowth(state)
  } catch (error) {
    const message = `limits that were raised are not in force: this machine has no memory for them (${(error as Error).message})`
    say({ type: 'log', level: 'error', message })
    return
  }
  commitOwn(sequencer, CommandType.LIMITS_IN_FORCE, {})
  const limits = Object.fromEntries(Object.entries(raisedLimits(state.limits, LIMIT.IN_FORCE)))
  say({ type: 'log', level: 'info', message: 'from now on these limits are in force', fields: limits })
}

/**
 * The genesis as other threads work with it: the document, with the limits of now. All of them: what a document leaves out is worked out
 * from the other limits, and from raised ones it would be another.
 */
export function inForce(text: string, { limits: raised, genesis: { firstAssets, limits } }: State): string {
  if (Object.keys(raisedLimits(raised, LIMIT.IN_FORCE)).length === 0) return text
  return JSON.stringify({ ...JSON.parse(text) as object, firstAssets, limits })
}

/** Which exit code an error means. */
export function exitCode(error: unknown): number {
  if (error instanceof CommitFailed) return EXIT.DISK
  if (error instanceof GenesisError || error instanceof ReadersFull) return EXIT.CONFIG
  if (error instanceof InvariantBroken || error instanceof UnappliedBatch) return EXIT.INVARIANT
  if (error instanceof SystemFault && error.disk) return EXIT.DISK
  const ofJournal = [ArchiveError, JournalError, JournalFault, Divergence, SecondWriter, SystemFault]
  return ofJournal.some((kind) => error instanceof kind) ? EXIT.JOURNAL : EXIT.INVARIANT
}
