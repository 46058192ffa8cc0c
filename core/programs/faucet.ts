/**
 * The testnet faucet: `dailyLimit` requests per account in any rolling 24 hours (specification, Faucet info; quota is per wallet and
 * application, which is what an account is). One request mints the genesis amount of one asset or of all.
 */
import { AgentGrant, MINT_COMMAND } from '../layout/command.ts'
import { MINT_ANSWER } from '../layout/answers.ts'
import { writeF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { assetCount, balanceRow, faucetOf, gain, getI64, now, totalRow, touchBalance } from '../state/rows.ts'
import { BALANCE, SCALAR, TOTAL } from '../state/columns.ts'
import { emitCredit, emitResult } from '../events/emit.ts'
import { FAUCET_LIMIT_MAX, MAX_ISSUED, type Genesis } from '../state/genesis.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { State } from '../state/state.ts'
import { R, touchAccount } from '../state/balances.ts'
import { keepAccount } from './blank_accounts.ts'
import { ownerAccount } from './sessions.ts'

export const FAUCET_WINDOW_MS = 86_400_000
/** CREDIT.source of a faucet request. */
export const FAUCET_SOURCE = 1

/** Where the time of request `number` is in its account's faucet row (0 is its first); its asset is the next word. Word 0: how many. */
const timeAt = (number: number): number => 2 + (number % FAUCET_LIMIT_MAX) * 2

export function mint(state: State, command: Views, base: number): void {
  const owner = ownerAccount(state, command, base)
  const account = Math.max(owner, -1)
  const asset = command.i32[base + MINT_COMMAND.at.asset]!
  let code = 0
  if (owner < 0) code = -owner
  else if (state.scalars[SCALAR.MAINTENANCE] !== 0) code = REFUSALS.OPERATIONS_BLOCKED.number
  else if (!isMintable(state, asset)) code = REFUSALS.FAUCET_ASSET.number
  else if (nextAvailableAt(state.genesis, faucetOf(state, account), now(state)) > now(state)) code = REFUSALS.FAUCET_LIMIT.number
  else if (!hasRoom(state, asset)) code = REFUSALS.OVERLOADED.number
  if (code === 0) {
    const faucet = faucetOf(state, account)
    const made = faucet[0]!
    faucet[timeAt(made)] = now(state)
    faucet[timeAt(made) + 1] = asset
    faucet[0] = made + 1
    for (let each = asset < 0 ? 0 : asset; each <= (asset < 0 ? assetCount(state) - 1 : asset); each++) credit(state, account, each)
    keepAccount(state, account)
    touchAccount(state, account)
  }
  const detail = code === REFUSALS.AGENT_NOT_ALLOWED.number ? AgentGrant.OPERATION : asset
  const at = emitResult(state, command, base, code, account, detail, 0)
  const next = account < 0 ? 0 : nextAvailableAt(state.genesis, faucetOf(state, account), now(state))
  writeF64(state.outbox, at, MINT_ANSWER.at.nextAvailableAt, next === Infinity ? 0 : next)
}

function isMintable(state: State, asset: number): boolean {
  if (asset >= 0) return asset < assetCount(state) && state.genesis.assets[asset]!.faucetAtoms > 0n
  return state.genesis.faucetDailyLimit > 0
}

function hasRoom(state: State, asset: number): boolean {
  return state.genesis.assets.every(
    (a) => (asset >= 0 && a.index !== asset) || getI64(state, totalRow(state, a.index), TOTAL.ISSUED) + a.faucetAtoms <= MAX_ISSUED,
  )
}

function credit(state: State, account: number, asset: number): void {
  const atoms = state.genesis.assets[asset]!.faucetAtoms
  if (atoms === 0n) return
  const row = balanceRow(state, account, asset)
  state.registers[R.AMOUNT] = atoms
  gain(state, row, BALANCE.AVAILABLE, R.AMOUNT)
  touchBalance(state, row)
  gain(state, totalRow(state, asset), TOTAL.ISSUED, R.AMOUNT)
  emitCredit(state, account, asset, FAUCET_SOURCE)
}

/**
 * The first time (Unix ms) at which a request of an account with this faucet row passes: 0 when nothing is in the window, `now` or
 * earlier when one passes now.
 */
export function nextAvailableAt({ faucetDailyLimit: limit }: Genesis, faucet: Float64Array, now: number): number {
  const made = faucet[0]!
  if (limit === 0) return Infinity
  if (made === 0 || faucet[timeAt(made - 1)]! + FAUCET_WINDOW_MS <= now) return 0
  if (made < limit) return now
  return Math.max(now, faucet[timeAt(made - limit)]! + FAUCET_WINDOW_MS)
}

/** One past faucet request. */
export interface FaucetRequest {
  requestedAt: number
  /** -1: all assets. */
  asset: number
}

/** The last requests of an account's faucet row, newest first, at most `most` of the last {@link FAUCET_LIMIT_MAX}. */
export function recentRequests(faucet: Float64Array, most: number): FaucetRequest[] {
  const made = faucet[0]!
  const requests: FaucetRequest[] = []
  for (let number = made - 1; number >= Math.max(0, made - Math.min(most, FAUCET_LIMIT_MAX)); number--) {
    requests.push({ requestedAt: faucet[timeAt(number)]!, asset: faucet[timeAt(number) + 1]! })
  }
  return requests
}
