/**
 * Deposits of one chain as commands: amounts in atoms, the application by its row. Who gets them is decided by the engine; what has no
 * owner, or is of no asset, goes to suspense there. What has no owner and is less than is worth a sweep takes no row there: it is told as
 * a remainder, which stays in the vault and is nobody's.
 *
 * Deposits that found no row there are sent again when their owner signed in, or when a row is free: their blocks are read anew.
 */
import { CommandType } from '../../../core/layout/command.ts'
import type { Decoded } from '../../../core/layout/table.ts'
import { MAX_ISSUED } from '../../../core/state/genesis.ts'
import type { ChainCursorView } from '../../../core/view/vault.ts'
import { atomsOf } from './amounts.ts'
import { reasonOf, wasTaken } from './commands.ts'
import type { ChainSight } from './chain_watch.ts'
import { DEPOSIT_TOPIC, readDeposit, type DepositLog } from './events.ts'
import { BATCH_MAX } from './messages.ts'
import type { ChainParts } from './parts.ts'
import { Changes } from './tell.ts'
import type { ChainNode, Hex, NodeLog } from './types.ts'

/** Deposits of one turn, and blocks of one turn that are read again. */
const TURN_MAX = 600
const BLOCKS_AGAIN = 8

export interface DepositParts extends Pick<ChainParts, 'books' | 'commands' | 'tokens' | 'tell'> {
  readonly chainId: number
}

export class Deposits {
  readonly #parts: DepositParts
  readonly #changes: Changes
  credited = 0

  constructor(parts: DepositParts) {
    this.#parts = parts
    this.#changes = new Changes(parts.tell)
  }

  /** Credits the deposits among these logs, in their order: how many logs are done with. */
  async take(logs: readonly NodeLog[], { chain, depositBlock, depositLog }: ChainCursorView): Promise<number> {
    let [at, sent] = [0, 0]
    while (at < logs.length) {
      const batch: { readonly end: number; readonly values: Decoded }[] = []
      let end = at
      for (; end < logs.length && batch.length < BATCH_MAX; end++) {
        const deposit = readDeposit(logs[end]!)
        const known = logs[end]!.block < depositBlock || (logs[end]!.block === depositBlock && logs[end]!.logIndex <= depositLog)
        if (deposit !== null && !known) batch.push({ end: end + 1, values: this.#command(chain, deposit) })
      }
      const done = await this.#send(batch)
      if (done < batch.length) return done === 0 ? at : batch[done - 1]!.end
      at = end
      sent += batch.length
      if (sent >= TURN_MAX) return at
    }
    return at
  }

  /** Sends some of those that found no row again, whose owner is there or for which a row is free, of blocks up to `confirmed`. */
  async again(node: ChainNode, vault: Hex, { chain, confirmed }: ChainSight): Promise<void> {
    const { books } = this.#parts
    const { hasRoom, lost } = books.lost()
    const wanted = lost.filter((each) => each.chain === chain && each.block <= confirmed.number
      && (hasRoom || books.owner(each.application, each.beneficiary as Hex) !== null))
    for (const number of [...new Set(wanted.map(({ block }) => block))].slice(0, BLOCKS_AGAIN)) {
      const names = new Set(wanted.filter(({ block }) => block === number).map(({ txHash, logIndex }) => `${txHash} ${logIndex}`))
      const to = await node.block(number)
      if (to === null) return
      const logs = await node.logs({ from: number, to, addresses: [vault], topics: [DEPOSIT_TOPIC] })
      const found = logs.flatMap((log) => (names.has(`${log.txHash} ${log.logIndex}`) ? readDeposit(log) ?? [] : []))
      for (let at = 0; at < found.length; at += BATCH_MAX) {
        const batch = found.slice(at, at + BATCH_MAX).map((deposit) => ({ values: this.#command(chain, deposit) }))
        if ((await this.#send(batch)) < batch.length) return
      }
    }
  }

  /** How many of them the engine has. */
  async #send(batch: readonly { readonly values: Decoded }[]): Promise<number> {
    const { commands } = this.#parts
    const outcomes = await commands.sendAll(CommandType.CREDIT_DEPOSIT, batch.map(({ values }) => values))
    for (const [at, outcome] of outcomes.entries()) {
      if (!wasTaken(outcome)) {
        this.#sayRefused(batch[at]!.values, reasonOf(outcome))
        return at
      }
      if (outcome['repeated'] !== 1) this.credited++
    }
    return batch.length
  }

  #sayRefused({ block, logIndex, txHash }: Decoded, reason: string | number): void {
    const fields = { chainId: this.#parts.chainId, block, logIndex, txHash, reason }
    this.#changes.say('refused', `${block}/${logIndex}`, '', 'warn', 'a deposit was not taken; it is tried again', fields)
  }

  #command(chain: number, deposit: DepositLog): Decoded {
    const { block, logIndex, txHash, beneficiary, token, amount: raw, application } = deposit
    const known = this.#parts.tokens.get(token)
    const row = this.#parts.books.application(application)
    const isDust = known !== undefined && raw < known.minSweep && this.#parts.books.isNobody(row, beneficiary)
    const { atoms, remainder } = known === undefined ? { atoms: 0n, remainder: 0n }
      : isDust ? { atoms: 0n, remainder: raw } : atomsOf(raw, known.decimals, known.asset.scale)
    if (atoms > MAX_ISSUED) {
      this.#parts.tell('error', 'a deposit is larger than any amount; the most that can be is in suspense', { txHash, raw: String(raw) })
    }
    return {
      chain, logIndex, block, asset: known?.asset.index ?? -1, application: row,
      amount: atoms > MAX_ISSUED ? MAX_ISSUED : atoms, remainder: remainder > MAX_ISSUED ? MAX_ISSUED : remainder,
      txHash: txHash.slice(2), beneficiary: beneficiary.slice(2), token: token.slice(2),
    }
  }
}
