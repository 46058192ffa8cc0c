/** What the snapshot follower asks of whoever keeps the balances of settlement, and the one of a data directory. */
import { VAULT } from '../state/vault_rows.ts'
import type { State } from '../state/state.ts'
import { balancesOf } from './balances.ts'
import { DamagedBalances, listBalances, openBalances, pruneBalances, writeBalances, KEPT } from './balances_file.ts'

/** The disk does not take them. */
export class BalancesUnwritten extends Error {
  override name = 'BalancesUnwritten'
}

export interface SettlementStore {
  /**
   * Keeps the balances of the batch that was opened last, of the state right behind the command that opened it; durable when it returns.
   * `between` is called many times a second. Throws {@link BalancesUnwritten}.
   */
  write(state: State, between: () => void): void
  /** The first batch that is open in this state and has no balances; `after`: a sequence before all that are open. `null`: none. */
  missing(state: State): { readonly batch: number; readonly after: number } | null
}

/** The last batch that was opened, ... in this state. */
export function settledOf(state: State): { batch: number; through: number; confirmed: number; confirmedThrough: number } {
  const at = (field: number): number => state.vaultF64[field >>> 1]!
  return {
    batch: at(VAULT.BATCH), through: at(VAULT.THROUGH), confirmed: at(VAULT.CONFIRMED), confirmedThrough: at(VAULT.CONFIRMED_THROUGH),
  }
}

/** Files of a data directory (balances_file.ts). `warn` hears of files that are damaged. */
export function settlementFiles(dataDir: string, warn: (text: string) => void): SettlementStore {
  const isThere = (batch: number): boolean => {
    try {
      const balances = openBalances(dataDir, batch)
      balances?.close()
      return balances !== null
    } catch (error) {
      if (!(error instanceof DamagedBalances)) throw error
      warn(error.message)
      return false
    }
  }
  return {
    write: (state, between) => {
      const { batch, through, confirmed } = settledOf(state)
      try {
        // In a replay from far behind: those of confirmed batches were removed, and would be again.
        if (batch <= (listBalances(dataDir).at(-1) ?? 0) - KEPT) return
        writeBalances(dataDir, batch, through, balancesOf(state, batch, between))
        pruneBalances(dataDir, batch, confirmed)
      } catch (error) {
        throw (error as NodeJS.ErrnoException).syscall === undefined ? error : new BalancesUnwritten((error as Error).message)
      }
    },
    missing: (state) => {
      const { batch, confirmed, confirmedThrough } = settledOf(state)
      for (let open = confirmed + 1; open <= batch; open++) if (!isThere(open)) return { batch: open, after: confirmedThrough }
      return null
    },
  }
}
