/** How far chains were read for deposits: ADVANCE_CHAIN, which makes the rows of the chains as well (deposits.ts). */
import { read, readF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { ADVANCE_CHAIN_COMMAND, VAULT_CHAINS_MAX } from '../layout/vault.ts'
import { emitResult } from '../events/emit.ts'
import { add, depositIdRow, get, getF64, set, setF64, setWords, vaultChainRow, vaultRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { ALL_LOGS, DEPOSIT_ID, DEPOSIT_IDS, HASH_WORDS, MOVED, VAULT, VAULT_CHAIN } from '../state/vault_rows.ts'
import { hasChain, isCount } from './deposits.ts'
import { laneRefusal } from './policy.ts'
import { refuse } from './sessions.ts'

const C = ADVANCE_CHAIN_COMMAND.at

/**
 * VALIDATION_ERROR: no such row, or what can be no block. CHAIN_ORDER: the block is not behind the last one, or of a rewind is; the chain
 * is another, or has a row; a rewind to before a deposit that the ring forgot.
 */
export function advanceChain(state: State, command: Views, base: number): void {
  const [chain, rewind] = [read(command, base, C.chain), read(command, base, C.rewind)]
  let code = laneRefusal(command, base)
  if (code === 0 && !isBlock(command, base)) code = REFUSALS.VALIDATION_ERROR.number
  if (code === 0 && !(hasChain(state, chain) ? mayMove(state, command, base) : mayBegin(state, command, base))) {
    code = REFUSALS.CHAIN_ORDER.number
  }
  if (code !== 0) return refuse(state, command, base, code)
  const row = vaultChainRow(state, chain)
  const block = readF64(command, base, C.block)
  if (!hasChain(state, chain)) {
    add(state, vaultRow(state), VAULT.CHAINS, 1)
    setF64(state, row, VAULT_CHAIN.CHAIN_ID, readF64(command, base, C.chainId))
    passDeposits(state, row, block)
  } else if (rewind !== 0) rewindTo(state, chain, block)
  setF64(state, row, VAULT_CHAIN.BLOCK, block)
  setF64(state, row, VAULT_CHAIN.BLOCK_TIME, readF64(command, base, C.blockTime))
  setWords(state, row, VAULT_CHAIN.HASH, HASH_WORDS, command.i32, base + C.blockHash)
  emitResult(state, command, base, 0, -1, 0, 0)
}

function isBlock(command: Views, base: number): boolean {
  const [chain, rewind, chainId] = [read(command, base, C.chain), read(command, base, C.rewind), readF64(command, base, C.chainId)]
  return chain >= 0 && chain < VAULT_CHAINS_MAX && (rewind === 0 || rewind === 1) && isCount(chainId) && chainId > 0 &&
    isCount(readF64(command, base, C.block)) && isCount(readF64(command, base, C.blockTime))
}

/** Of a chain that has no row yet: it gets the next one. */
function mayBegin(state: State, command: Views, base: number): boolean {
  const chains = get(state, vaultRow(state), VAULT.CHAINS)
  if (read(command, base, C.chain) !== chains || read(command, base, C.rewind) !== 0) return false
  const chainId = readF64(command, base, C.chainId)
  for (let chain = 0; chain < chains; chain++) {
    if (getF64(state, vaultChainRow(state, chain), VAULT_CHAIN.CHAIN_ID) === chainId) return false
  }
  return true
}

function mayMove(state: State, command: Views, base: number): boolean {
  const row = vaultChainRow(state, read(command, base, C.chain))
  const [block, known] = [readF64(command, base, C.block), getF64(state, row, VAULT_CHAIN.BLOCK)]
  if (getF64(state, row, VAULT_CHAIN.CHAIN_ID) !== readF64(command, base, C.chainId)) return false
  if (read(command, base, C.rewind) === 0) return block > known
  return block <= known && block >= getF64(state, row, VAULT_CHAIN.LEFT)
}

/** All deposits up to `block` are behind the chain at `row`. */
function passDeposits(state: State, row: number, block: number): void {
  setF64(state, row, VAULT_CHAIN.DEPOSIT_BLOCK, block)
  set(state, row, VAULT_CHAIN.DEPOSIT_LOG, ALL_LOGS)
}

/** Deposits behind `block` come again, wherever in their blocks they are then. */
function rewindTo(state: State, chain: number, block: number): void {
  const row = vaultChainRow(state, chain)
  add(state, row, VAULT_CHAIN.REWINDS, 1)
  if (getF64(state, row, VAULT_CHAIN.DEPOSIT_BLOCK) > block) passDeposits(state, row, block)
  for (let number = 0; number < Math.min(DEPOSIT_IDS, getF64(state, vaultRow(state), VAULT.DEPOSITS)); number++) {
    const id = depositIdRow(state, number)
    if (get(state, id, DEPOSIT_ID.CHAIN) !== chain || getF64(state, id, DEPOSIT_ID.BLOCK) <= block) continue
    set(state, id, DEPOSIT_ID.LOG_INDEX, MOVED)
  }
}
