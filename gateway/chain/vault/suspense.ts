/** Deposits in suspense whose owner signed in since: they become his. Bounded a turn; what is left comes in the next one. */
import { CommandType } from '../../../core/layout/command.ts'
import type { Books } from './books.ts'
import { reasonOf, wasTaken, type VaultCommands } from './commands.ts'
import type { Tell } from './tell.ts'
import type { Hex } from './types.ts'

const TURN_MAX = 64

export class Suspense {
  readonly #books: Books
  readonly #commands: VaultCommands
  readonly #tell: Tell
  assigned = 0
  /** Rows at the last look. */
  rows = 0
  /** Rows that the engine refused, by their sequence: its reason will not change by itself. */
  readonly #refused = new Set<number>()

  constructor(books: Books, commands: VaultCommands, tell: Tell) {
    this.#books = books
    this.#commands = commands
    this.#tell = tell
  }

  async look(): Promise<void> {
    const rows = this.#books.suspense()
    this.rows = rows.length
    for (const sequence of this.#refused) if (!rows.some((each) => each.sequence === sequence)) this.#refused.delete(sequence)
    let tried = 0
    for (const { row, sequence, asset, application, beneficiary } of rows) {
      // Of no asset, as the last row, which stands for several; or of no application.
      if (asset < 0 || application < 0 || this.#refused.has(sequence)) continue
      const owner = this.#books.owner(application, beneficiary as Hex)
      if (owner === null || owner.application !== application) continue
      if (tried++ === TURN_MAX) return
      const values = { row, account: owner.account, suspenseSequence: sequence, createdSequence: owner.createdSequence }
      const outcome = await this.#commands.send(CommandType.ASSIGN_SUSPENSE, values)
      if (wasTaken(outcome)) {
        this.assigned++
        this.#tell('info', 'a deposit in suspense has its owner now', { row, account: owner.account })
      } else if (typeof outcome === 'string') return
      else this.#refuse(sequence, row, reasonOf(outcome))
    }
  }

  #refuse(sequence: number, row: number, reason: string | number): void {
    this.#refused.add(sequence)
    this.#tell('warn', 'a deposit in suspense could not be given to its owner', { row, reason })
  }
}
