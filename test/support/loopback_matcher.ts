/**
 * The real sequencer and engine behind the real rings, with a journal that keeps nothing: for tests of what stands in
 * front of the engine. Draining, checks of records, sequenced time, answers, events and counters are the exchange's own;
 * timers rest unless a test wants them, because nothing of what others do should end by itself. Ends when its control word becomes 1.
 */
import { workerData } from 'node:worker_threads'
import { realIo } from '../../core/lib/io.ts'
import { RECORD_BYTES } from '../../core/layout/table.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import type { JournalWriter } from '../../core/journal/writer.ts'
import { attachBroadcast } from '../../core/ring/broadcast.ts'
import { matcherCounters } from '../../core/ring/counters.ts'
import { waitFor } from '../../core/ring/wait.ts'
import { SequencerClock } from '../../core/sequencer/clock.ts'
import { anyCommand, attachLanes } from '../../core/sequencer/lanes.ts'
import { createSequencer, step } from '../../core/sequencer/loop.ts'
import { createMeter } from '../../core/sequencer/meter.ts'
import { anyQuestion, createQuestions } from '../../core/sequencer/questions.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { attachState } from '../../core/state/state.ts'
import type { Shared } from '../../core/threads.ts'

export interface LoopbackData {
  readonly genesis: string
  readonly shared: Shared
  /** Slots of one batch. */
  readonly batchMax: number
  /** Word 0: 1 asks the loop to end. Word 1: 1 makes it hold commands back. */
  readonly control: SharedArrayBuffer
  /** Time acts: orders expire, deadlines fire. */
  readonly timers: boolean
}

/** Turns without waiting when there is nothing to do, and the longest wait, ms. */
const [SPIN, PARK_MS] = [2000, 50]

/** Takes every batch and keeps none. */
function forgetful(slots: number): JournalWriter {
  const bytes = Buffer.from(new ArrayBuffer(slots * RECORD_BYTES))
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  const nothing = (): void => undefined
  const commit: JournalWriter['commit'] = (_sequence, _time, _commands, count) => count * RECORD_BYTES
  return { words, bytes, checksum: 0, first: 1, commit, dropBefore: nothing, syncHead: nothing, close: nothing }
}

function run({ genesis, shared, batchMax, control, timers }: LoopbackData): void {
  const words = new Int32Array(control)
  const wait = new Int32Array(shared.matcherWait)
  const counters = matcherCounters(shared.counters)
  const lanes = attachLanes(shared.lanes)
  const questions = createQuestions(shared.lanes.map((lane) => lane.questions))
  const meter = createMeter(counters, realIo)
  const sequencer = createSequencer({
    state: attachState(parseGenesis(genesis), shared.columns, createOutbox(8192)),
    clock: new SequencerClock(realIo, 0, { jumpMs: Infinity, gapMs: Infinity }, counters, () => undefined),
    writer: forgetful(batchMax),
    lanes,
    questions,
    events: attachBroadcast(shared.events as SharedArrayBuffer),
    gate: new Int32Array(shared.gate),
    wait,
    meter,
    warn: (message) => {
      throw new Error(message)
    },
    timersRest: () => !timers,
    maxSlots: batchMax,
    spin: SPIN,
    eventsChecksum: 0,
  })
  const held = (): boolean => Atomics.load(words, 1) === 1
  const ready = (): boolean => Atomics.load(words, 0) === 1 || (!held() && (anyCommand(lanes) || anyQuestion(questions)))
  while (Atomics.load(words, 0) === 0) {
    if (!held() && step(sequencer) > 0) continue
    meter.beat()
    waitFor(wait, ready, SPIN, PARK_MS)
    meter.awake()
  }
}

run(workerData as LoopbackData)
