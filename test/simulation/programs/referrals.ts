/**
 * Referrals: each client was brought by the one before it of its application, if that one signed in first. The operator changes shares;
 * who earned something moves it, or tries to move more.
 *
 * What must be true: who earns is who the sign-ins say, in order; together they get no more than the house took with that fill, each what
 * the shares say; and nobody ever moves more than he earned.
 */
import { CREDIT, CreditSource, EventType, eventTypeOf, FILL, REFERRAL_REWARD, RESULT } from '../../../core/layout/event.ts'
import { CommandType, Flag } from '../../../core/layout/command.ts'
import { decode, RECORD_WORDS, type Decoded } from '../../../core/layout/table.ts'
import { ACCOUNT, BALANCE } from '../../../core/state/columns.ts'
import { findAccount } from '../../../core/state/indexes.ts'
import { DEFAULT_SHARES_PPM } from '../../../core/state/referral_shares.ts'
import { accountRow, balanceRow, getF64, getI64 } from '../../../core/state/rows.ts'
import type { State } from '../../../core/state/state.ts'
import { encodeTransferRewards } from '../../../gateway/bridge/encode.ts'
import type { Referrer } from '../../../gateway/bridge/terms.ts'
import type { Asker, Draft } from '../margin_requests.ts'
import { Violation } from '../violation.ts'
import { eventsOf, pick, resultOf, type Desk, type Done, type Program, type ProgramAudit } from './program.ts'

const LEVELS = ['first', 'second', 'third'] as const
const MILLION = 1_000_000n
const SHARES = [[200_000, 50_000, 25_000], [0, 500_000, 500_000], [333_333, 333_333, 333_334], [1_000_000, 0, 0], [0, 0, 0]]

/** Address of a wallet of the simulation. */
export const addressOf = (wallet: number): string => `0x${String(wallet + 1).padStart(40, '0')}`

/** The account of `wallet`, if it signed in by now, as a sign-in names it. */
export function referrerNow(state: State, application: number, wallet: number): Referrer | null {
  if (wallet < 0) return null
  const words = new Int32Array(5)
  Buffer.from(words.buffer).write(addressOf(wallet).slice(2), 'hex')
  const account = findAccount(state, application, words, 0)
  return account < 0 ? null : { account, createdSequence: getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) }
}

function request({ random, state, account, key }: Asker): Draft | null {
  const asset = random.below(state.genesis.assets.length)
  const rewards = getI64(state, balanceRow(state, account, asset), BALANCE.REWARDS)
  if (rewards === 0n && random.below(10) > 0) return null
  const amount = pick(random, [rewards, rewards / 2n + 1n, rewards + 1n, 1n]) || 1n
  const terms = { asset, amount, key: random.below(2) === 0 ? key() : '' }
  return {
    type: CommandType.TRANSFER_REWARDS, key: terms.key,
    send: (engine, at, correlation, caller) => encodeTransferRewards(engine, at, correlation, caller, terms),
  }
}

function operate({ random }: Desk): readonly [CommandType, Decoded] | null {
  const [first, second, third] = pick(random, SHARES) as [number, number, number]
  return [CommandType.SET_REFERRAL_SHARES, { first, second, third }]
}

class ReferralAudit implements ProgramAudit {
  #shares: readonly number[] = DEFAULT_SHARES_PPM
  /** Who brought whom, by account. */
  readonly #by = new Map<number, number>()
  /** What was earned and not moved, atoms, by account and asset. */
  readonly #rewards = new Map<string, bigint>()

  see({ type, command, events, met }: Done): void {
    let fill: Decoded = {}
    for (let base = 0; base <= resultOf(events); base += RECORD_WORDS) {
      const kind = eventTypeOf(events.u32[base]!)
      if (kind === EventType.FILL) fill = decode(FILL, events, base)
      if (kind === EventType.REFERRAL_REWARD) this.#reward(decode(REFERRAL_REWARD, events, base), fill, met)
    }
    for (const base of eventsOf(events, EventType.CREDIT)) this.#moved(decode(CREDIT, events, base), met)
    const result = resultOf(events)
    if (events.i32[result + RESULT.at.code] !== 0) return
    const repeated = (events.u32[result + RESULT.at.flags]! & Flag.REPEATED) !== 0
    if (type === CommandType.TRANSFER_REWARDS && repeated) met('rewards moved once for a key')
    if (type === CommandType.SET_REFERRAL_SHARES) this.#shares = LEVELS.map((level) => Number(command[level]))
    if (type === CommandType.OPEN_SESSION && Number(command['referrer']) > 0) this.#brought(command, decode(RESULT, events, result), met)
  }

  #brought(command: Decoded, { account, trades: isNew, lots: recorded }: Decoded, met: Done['met']): void {
    if (isNew === 0 && recorded !== 0) throw new Violation(`account ${String(account)} was brought at a later sign-in`)
    if (recorded === 0) return
    met('brought at sign-in')
    this.#by.set(Number(account), Number(command['referrer']) - 1)
  }

  #reward(reward: Decoded, fill: Decoded, met: Done['met']): void {
    const [taker, maker] = [BigInt(fill['takerFee']!), BigInt(fill['makerFee']!)]
    const most = reward['rested'] === 1 ? maker : taker + (maker < 0n ? maker : 0n)
    const income = BigInt(reward['income']!)
    let sum = 0n
    let earner = Number(reward['source'])
    for (const [at, level] of LEVELS.entries()) {
      earner = this.#by.get(earner) ?? -1
      const amount = BigInt(reward[`${level}Amount`]!)
      const due = earner < 0 ? 0n : (income * BigInt(this.#shares[at]!)) / MILLION
      if (amount !== due || (amount !== 0n && reward[level] !== earner)) {
        throw new Violation(`level ${at + 1} of a fill of ${String(reward['source'])} earns ${amount} atoms, ${due} are due to ${earner}`)
      }
      if (amount === 0n) continue
      met(`reward of level ${at + 1}`)
      sum += amount
      this.#add(earner, reward['asset'], amount)
    }
    if (income > most || sum > income) throw new Violation(`rewards of ${sum} atoms of an income of ${income}, the house took ${most}`)
  }

  #moved({ account, asset, amount, source }: Decoded, met: Done['met']): void {
    if (source !== CreditSource.REFERRAL_REWARD) return
    met('rewards moved')
    const left = this.#add(Number(account), asset, -BigInt(amount!))
    if (left < 0n) throw new Violation(`account ${String(account)} moved more than it earned`)
  }

  #add(account: number, asset: unknown, amount: bigint): bigint {
    const key = `${account}/${String(asset)}`
    const now = (this.#rewards.get(key) ?? 0n) + amount
    this.#rewards.set(key, now)
    return now
  }
}

export const REFERRALS: Program = {
  name: 'referrals', weights: [6], needsPerps: false, operates: 10, request, operate, audit: () => new ReferralAudit(),
}
