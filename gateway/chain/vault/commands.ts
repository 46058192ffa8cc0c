/**
 * Commands of lane 0 from the vault thread, through the operator thread, which is the lane's only producer.
 *
 * An answer that did not come says nothing: the command may be applied at any later moment. As the lane keeps its order, an answer to a
 * later command says that everything before it was applied or never will be. So behind a doubt, and at the start, {@link certain} sends
 * one that changes nothing, and until that is answered nothing is decided from the state.
 */
import type { MessagePort } from 'node:worker_threads'
import { CommandType } from '../../../core/layout/command.ts'
import type { Decoded } from '../../../core/layout/table.ts'
import { WithdrawalStatus } from '../../../core/layout/vault.ts'
import { BATCH_MAX, type Outcome, type ToVaultDesk, type VaultAnswer, type VaultReport } from './messages.ts'

/** The operator thread answers `late` itself after 5 s; longer than that it is itself away. */
const DEADLINE_MS = 8_000

export interface VaultCommands {
  /** One command. */
  send(type: number, values: Decoded): Promise<Outcome>
  /** At most {@link BATCH_MAX} of one type, in order: outcomes of all of them; behind the first `full` all are. */
  sendAll(type: number, values: readonly Decoded[]): Promise<Outcome[]>
  /** Whether everything that was sent so far is applied, or never will be. Asks the engine only when there is a doubt. */
  certain(): Promise<boolean>
}

/** True of a command that was applied. */
export const wasTaken = (outcome: Outcome): outcome is Decoded => typeof outcome !== 'string' && outcome['code'] === 0

/** Why it was not, for the log. */
export const reasonOf = (outcome: Outcome): string | number => (typeof outcome === 'string' ? outcome : Number(outcome['code']))

/** A withdrawal that there never is: no row has this sequence. */
const NOTHING: Decoded = { row: 0, to: WithdrawalStatus.SIGNED, withdrawalSequence: 0, deadline: 1000 }

interface Question {
  /** Commands of it. */
  readonly count: number
  readonly done: (results: Outcome[]) => void
  readonly timer: NodeJS.Timeout
}

export class PortCommands implements VaultCommands {
  #port: MessagePort | null = null
  readonly #open = new Map<number, Question>()
  #next = 1
  /** The thread before this one may have sent what is not applied yet. */
  #doubt = true

  /** From now on commands go here. */
  take(port: MessagePort): void {
    this.#port?.close()
    this.#drop()
    this.#port = port
    port.on('message', ({ id, results }: VaultAnswer) => this.#finish(id, [...results]))
    port.on('close', () => {
      if (this.#port !== port) return
      this.#port = null
      this.#drop()
    })
  }

  report(report: VaultReport): void {
    this.#port?.postMessage({ type: 'vault', report } satisfies ToVaultDesk)
  }

  async send(type: number, values: Decoded): Promise<Outcome> {
    return (await this.sendAll(type, [values]))[0]!
  }

  async sendAll(type: number, values: readonly Decoded[]): Promise<Outcome[]> {
    if (values.length > BATCH_MAX) throw new RangeError(`at most ${BATCH_MAX} commands at once`)
    const port = this.#port
    if (port === null || values.length === 0) return values.map(() => 'gone')
    const id = this.#next++
    const results = await new Promise<Outcome[]>((done) => {
      const timer = setTimeout(() => this.#finish(id, []), DEADLINE_MS)
      this.#open.set(id, { count: values.length, done, timer })
      port.postMessage({ id, commandType: type, values } satisfies ToVaultDesk)
    })
    if (results.includes('late')) this.#doubt = true
    return results
  }

  async certain(): Promise<boolean> {
    if (!this.#doubt) return true
    this.#doubt = false
    const answered = typeof (await this.send(CommandType.ADVANCE_WITHDRAWAL, NOTHING)) !== 'string'
    if (!answered) this.#doubt = true
    return answered && !this.#doubt
  }

  close(): void {
    this.#drop()
    this.#port?.close()
    this.#port = null
  }

  /** Who was asked is gone. */
  #drop(): void {
    for (const id of [...this.#open.keys()]) this.#finish(id, [])
  }

  /** What has no result was perhaps sent. */
  #finish(id: number, results: Outcome[]): void {
    const question = this.#open.get(id)
    if (question === undefined) return
    this.#open.delete(id)
    clearTimeout(question.timer)
    question.done(Array.from({ length: question.count }, (_, at) => results[at] ?? 'late'))
  }
}
