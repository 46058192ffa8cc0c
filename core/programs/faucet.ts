/**
 * The testnet faucet: `dailyLimit` requests per account in any rolling 24 hours (specification, Faucet info; quota is per wallet and
 * application, which is what an account is). One request mints the genesis amount of one asset or of all.
 *
 * At most MAX_ISSUED atoms of an asset are ever issued, deposits counted and withdrawals not taken off. A request of all mints what has
 * room; it is refused when nothing has. (Before the rules 2: when anything had none, so one asset at its ceiling closed the faucet for
 * good.) Which assets it left out need not be kept with it: what was ever issued only grows, so an asset is left out of every request from
 * the one on whose sequence its row has (TOTAL.LEFT_OUT).
 */
import { AgentGrant, MINT_COMMAND } from '../layout/command.ts'
import { MINT_ANSWER } from '../layout/answers.ts'
import { writeF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import {
  assetCount, assetListingRow, balanceRow, faucetOf, gain, getF64, now, setF64, totalRow, touchBalance,
} from '../state/rows.ts'
import { BALANCE, CLOCK, SCALAR, TOTAL } from '../state/columns.ts'
import { emitCredit, emitResult } from '../events/emit.ts'
import { FAUCET_LIMIT_MAX, type Genesis } from '../state/genesis.ts'
import { ASSET_LISTING } from '../state/listing_rows.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { State } from '../state/state.ts'
import { R, touchAccount } from '../state/balances.ts'
import { keepAccount } from '../state/blank_list.ts'
import { mayIssue } from '../state/vault_pools.ts'
import { ownerAccount } from './sessions.ts'

export const FAUCET_WINDOW_MS = 86_400_000
/** CREDIT.source of a faucet request. */
export const FAUCET_SOURCE = 1

/** Where the time of request `number` is in its account's faucet row (0 is its first); {@link purposeOf} follows. Word 0: how many. */
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
    faucet[timeAt(made) + 1] = purposeOf(state, asset)
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

/** What is kept of a request: its asset. Of all assets: its sequence, below -1, or -1 before the rules 2. */
const purposeOf = (state: State, asset: number): number =>
  asset >= 0 || state.scalars[SCALAR.RULES]! < 2 ? asset : -1 - state.clock[CLOCK.SEQUENCE]!

/** Room for one more request of this asset, or of all (-1). */
function hasRoom(state: State, asset: number): boolean {
  const { assets } = state.genesis
  if (asset >= 0) return assetHasRoom(state, asset)
  if (state.scalars[SCALAR.RULES]! < 2) return assets.every(({ index }) => assetHasRoom(state, index))
  return assets.some(({ index, faucetAtoms }) => faucetAtoms > 0n && assetHasRoom(state, index))
}

const assetHasRoom = (state: State, asset: number): boolean => {
  state.registers[R.AMOUNT] = state.genesis.assets[asset]!.faucetAtoms
  return mayIssue(state, asset)
}

/** Mints an asset if it is one that the faucet has and it has room. */
function credit(state: State, account: number, asset: number): void {
  const atoms = state.genesis.assets[asset]!.faucetAtoms
  if (atoms === 0n) return
  const total = totalRow(state, asset)
  if (!assetHasRoom(state, asset)) {
    if (getF64(state, total, TOTAL.LEFT_OUT) === 0) setF64(state, total, TOTAL.LEFT_OUT, state.clock[CLOCK.SEQUENCE]!)
    return
  }
  const row = balanceRow(state, account, asset)
  state.registers[R.AMOUNT] = atoms
  gain(state, row, BALANCE.AVAILABLE, R.AMOUNT)
  touchBalance(state, row)
  gain(state, total, TOTAL.ISSUED, R.AMOUNT)
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
  /** Of all assets under the rules 2: its sequence; otherwise 0. */
  sequence: number
}

/** Whether a request minted an asset that the faucet has. */
export const hasMinted = (state: State, { asset, sequence }: Pick<FaucetRequest, 'asset' | 'sequence'>, each: number): boolean => {
  if (asset >= 0) return asset === each
  // Listed after the request.
  if (getF64(state, assetListingRow(state, each), ASSET_LISTING.SEQUENCE) > sequence) return false
  const leftOut = getF64(state, totalRow(state, each), TOTAL.LEFT_OUT)
  return sequence === 0 || leftOut === 0 || leftOut > sequence
}

/** The last requests of an account's faucet row, newest first, at most `most` of the last {@link FAUCET_LIMIT_MAX}. */
export function recentRequests(faucet: Float64Array, most: number): FaucetRequest[] {
  const made = faucet[0]!
  const requests: FaucetRequest[] = []
  for (let number = made - 1; number >= Math.max(0, made - Math.min(most, FAUCET_LIMIT_MAX)); number--) {
    const purpose = faucet[timeAt(number) + 1]!
    requests.push({ requestedAt: faucet[timeAt(number)]!, asset: Math.max(purpose, -1), sequence: Math.max(0, -1 - purpose) })
  }
  return requests
}
