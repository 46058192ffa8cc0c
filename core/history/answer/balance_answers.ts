/** Proofs of what an account had when a batch of settlement was opened, from the files of balances (settlement/balances_file.ts). */
import { userId } from '../../layout/ids.ts'
import { openBalances, type Balances } from '../../settlement/balances_file.ts'
import type { Genesis } from '../../state/genesis.ts'
import type { TradeNames } from '../project/trade_tree.ts'
import { hexOf } from './vault_answers.ts'
import type { BalanceProof, HistorySettlement } from './vault_queries.ts'

/** Files that are kept open: each was read once to be checked. */
const KEPT = 4

/** `null`: there are none of that batch. Throws DamagedBalances. */
export type BalancesOf = (batch: number) => Balances | null

/** Those of a data directory, kept open for as long as the thread lives. */
export function openBalancesOf(dataDir: string): BalancesOf {
  const open = new Map<number, Balances>()
  return (batch) => {
    const known = open.get(batch)
    if (known !== undefined) return known
    const found = openBalances(dataDir, batch)
    if (found === null) return null
    const [oldest] = open.keys()
    if (open.size >= KEPT && oldest !== undefined) {
      open.get(oldest)!.close()
      open.delete(oldest)
    }
    open.set(batch, found)
    return found
  }
}

/** What proves the balance of `account` in `batch`; `null`: it had nothing then, or nobody knows any more. */
export function proveBalance(
  balances: BalancesOf, names: TradeNames, genesis: Genesis, batch: HistorySettlement, account: number, asset: number,
): BalanceProof | null {
  const listed = genesis.assets[asset]
  const file = listed === undefined ? null : balances(batch.batch)
  const found = file?.find(userId(names.createdSequenceOf(account), account), listed!.id)
  if (file === null || found === null || found === undefined) return null
  return { batch, leaf: hexOf(found.bytes), place: found.index, count: found.count, proof: found.proof.map(hexOf), root: hexOf(file.root) }
}
