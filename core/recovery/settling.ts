/**
 * Replay that stops where a batch of settlement is opened, so that its balances are written as they are there (settlement/store.ts).
 */
import type { Batch } from '../journal/frame.ts'
import { CommandType } from '../layout/command.ts'
import type { Io } from '../lib/io.ts'
import { BalancesUnwritten, settledOf, type SettlementStore } from '../settlement/store.ts'
import { hasCommand, type Replayer } from './replayer.ts'

/** Seconds between two tries to write balances. */
const RETRY_SECONDS = 1

export interface SettlingParts {
  readonly replayer: Replayer
  /** Absent: balances go nowhere. */
  readonly settlement: SettlementStore | undefined
  readonly io: Pick<Io, 'seconds'>
  readonly warn: (text: string) => void
  /** Called many times a second while balances are written. */
  readonly between: () => void
}

export class Settling {
  readonly #parts: SettlingParts
  /** What is left of a batch of the journal in which batches of settlement are opened. */
  #rest: Generator<void, void> | null = null
  /** The last batch of settlement that was opened so far: a command that is refused opens none. */
  #opened: number
  #failedAt = -Infinity
  #isFailing = false

  constructor(parts: SettlingParts) {
    this.#parts = parts
    this.#opened = settledOf(parts.replayer.state).batch
  }

  /** Whether it stands within a batch of the journal. */
  get stands(): boolean {
    return this.#rest !== null
  }

  /** Applies a batch, or the part of it up to the first batch of settlement in it; it need not stay. */
  take(batch: Batch): void {
    const { replayer, settlement } = this.#parts
    if (settlement === undefined || !hasCommand(batch, CommandType.OPEN_SETTLEMENT)) replayer.batch(batch)
    else {
      this.#rest = replayer.inSteps(batch, CommandType.OPEN_SETTLEMENT)
      this.#rest.next()
    }
  }

  /** Goes on where it stands, to the end of the batch. False: the balances there cannot be written yet; it was said once. */
  goOn(): boolean {
    const { replayer: { state }, settlement, io, warn, between } = this.#parts
    if (this.#rest === null) return true
    if (this.#isFailing && io.seconds() - this.#failedAt < RETRY_SECONDS) return false
    try {
      do {
        const { batch } = settledOf(state)
        if (batch !== this.#opened) settlement!.write(state, between)
        this.#opened = batch
      } while (this.#rest.next().done !== true)
    } catch (error) {
      if (!(error instanceof BalancesUnwritten)) throw error
      if (!this.#isFailing) warn(`the balances of a batch of settlement cannot be written, snapshots wait for them: ${error.message}`)
      this.#isFailing = true
      this.#failedAt = io.seconds()
      return false
    }
    this.#rest = null
    this.#isFailing = false
    return true
  }
}
