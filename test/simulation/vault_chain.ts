/**
 * The chain beside the simulated exchange, and who talks to both: wallets that deposit and submit what they were given, and the vault
 * thread, which says to the exchange what it sees and nothing that it remembers. Blocks come, are reorganised near the tip and, now and
 * then, behind the confirmations, with the same transactions in other blocks. It is the ledger outside of the exchange: what was paid and
 * what came in is counted here, and held against the exchange's own sums.
 *
 * An authorisation that the exchange's columns ever said is good stays in the wallet's pocket, whatever the exchange loses.
 */
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { WithdrawalFlag, WithdrawalStatus } from '../../core/layout/vault.ts'
import {
  DEPOSIT_ID, DEPOSIT_ID_WORDS, MOVED, VAULT, VAULT_CHAIN, VAULT_TOTAL, VAULT_TOTAL_WORDS, WITHDRAWAL_ROW, WITHDRAWAL_WORDS,
} from '../../core/state/vault_rows.ts'
import type { Life } from './machine.ts'
import type { Operator } from './operator.ts'
import { Violation } from './violation.ts'

const CONFIRMATIONS = 3
const LIFETIME_MS = 60_000
const CHAIN_ID = 1328
/** Wallets of the simulation, and those that have no account. */
const WALLETS = 8
/** Commands under way at most. */
const WINDOW = 6

interface Deposit {
  readonly txHash: string
  readonly logIndex: number
  readonly beneficiary: string
  readonly application: number
  /** -1: a token that the exchange does not have. */
  readonly asset: number
  readonly amount: bigint
  readonly remainder: bigint
}
interface Block {
  readonly number: number
  readonly time: number
  readonly hash: string
  readonly deposits: Deposit[]
  readonly paid: number[]
}

/** What the operator once signed, as the vault of the chain takes it. */
interface Authorisation { readonly asset: number; readonly amount: bigint; deadline: number; lost: boolean }

/** A withdrawal as the columns have it. */
export interface Row {
  readonly row: number
  readonly sequence: number
  readonly status: number
  readonly needsApproval: boolean
  readonly asset: number
  readonly amount: bigint
  readonly deadline: number
}

/** Rows in use. */
export function rowsOf({ withdrawals, withdrawalsF64, withdrawalsI64, scalars }: State): Row[] {
  const rows = Array.from({ length: scalars[SCALAR.WITHDRAWALS_USED]! }, (_, row) => {
    const at = row * WITHDRAWAL_WORDS
    const word = (place: number): number => withdrawals[at + place]!
    return {
      row, sequence: withdrawalsF64[(at + WITHDRAWAL_ROW.SEQUENCE) >>> 1]!, status: word(WITHDRAWAL_ROW.STATUS),
      needsApproval: (word(WITHDRAWAL_ROW.FLAGS) & WithdrawalFlag.NEEDS_APPROVAL) !== 0, asset: word(WITHDRAWAL_ROW.ASSET),
      amount: withdrawalsI64[(at + WITHDRAWAL_ROW.AMOUNT) >>> 1]!, deadline: withdrawalsF64[(at + WITHDRAWAL_ROW.DEADLINE) >>> 1]!,
    }
  })
  return rows.filter(({ sequence }) => sequence !== 0)
}

export interface ChainParts {
  readonly random: Prng
  readonly operator: Operator
  count(name: string): void
}

/** Deposits of one look, which are sent in order; then the exchange is told that they were. */
interface Look { readonly life: Life; readonly to: Block; readonly deposits: (Deposit & { block: number })[]; sent: number; done: number }

export class SimulatedChain {
  readonly #parts: ChainParts
  #blocks: Block[] = [{ number: 0, time: 1_700_000_000_000, hash: hash('block 0'), deposits: [], paid: [] }]
  /** Deposits of transactions that were dropped out of the chain, by transaction. */
  readonly #waiting: Deposit[][] = []
  readonly #authorised = new Map<number, Authorisation>()
  #made = 0
  #hashes = 0
  #look: Look | null = null
  /** Withdrawals about which something is under way, in this life. */
  #asked = new Map<number, Life>()

  constructor(parts: ChainParts) {
    this.#parts = parts
  }

  readonly #below = (n: number): number => this.#parts.random.below(n)

  /** True when an authorisation of this withdrawal may be in somebody's pocket. */
  isAuthorised(sequence: number): boolean {
    return this.#authorised.has(sequence)
  }

  /** All that is confirmed was told. */
  isCalm(state: State): boolean {
    if (state.vault[VAULT.CHAINS] === 0 || this.#look !== null) return false
    const cursor = cursorOf(state)
    const follows = this.#blocks[cursor.block]?.hash === cursor.hash && cursor.block >= this.#confirmed.number
    return follows && rowsOf(state).every((row) => row.status === WithdrawalStatus.PENDING || this.#next(state, row) === null)
  }

  /** One turn of chain, wallets and vault thread; without `more` the chain stands still. */
  act(life: Life, more: boolean): void {
    const { state } = life.sequencer
    const rows = rowsOf(state)
    for (const row of rows) this.#authorise(row)
    if (more && this.#below(3) === 0) this.#mine(rows)
    if (more && this.#below(40) === 0) this.#reorganise(1 + this.#below(CONFIRMATIONS - 1), false)
    else if (more && this.#below(150) === 0) this.#reorganise(CONFIRMATIONS + this.#below(6), true)
    if (!this.#follows(life, state)) return
    this.#deposits(life, state)
    for (const row of rows) if (this.#below(2) === 0) this.#advance(life, state, row)
  }

  /** What came after sequence `end` is lost: what was paid of it is the operator's loss. */
  loses(end: number): void {
    for (const [sequence, authorisation] of this.#authorised) if (sequence > end) authorisation.lost = true
    this.#look = null
  }

  get #tip(): Block {
    return this.#blocks.at(-1)!
  }

  get #confirmed(): Block {
    return this.#blocks[Math.max(0, this.#blocks.length - 1 - CONFIRMATIONS)]!
  }

  #authorise({ sequence, status, asset, amount, deadline }: Row): void {
    if (status !== WithdrawalStatus.SIGNED && status !== WithdrawalStatus.SUBMITTED) return
    const known = this.#authorised.get(sequence)
    if (known === undefined) this.#authorised.set(sequence, { asset, amount, deadline, lost: false })
    else known.deadline = Math.max(known.deadline, deadline)
  }

  /** The block in which a nonce was used; undefined: it was not. */
  #usedIn(sequence: number): Block | undefined {
    return this.#blocks.find(({ paid }) => paid.includes(sequence))
  }

  #mine(rows: readonly Row[]): void {
    const ends = rows.filter(({ deadline }) => deadline > this.#tip.time)
    // Now and then so late that something runs out.
    const leap = this.#below(12) === 0 && ends.length > 0 ? ends[this.#below(ends.length)]!.deadline - this.#tip.time : 0
    const time = this.#tip.time + leap + 400 + this.#below(2000)
    const open = [...this.#authorised].filter(([sequence, { deadline }]) => deadline >= time && this.#usedIn(sequence) === undefined)
    const paid = open.filter(() => this.#below(4) === 0).map(([sequence]) => sequence)
    const deposits = this.#waiting.splice(0, this.#below(3)).flat()
    let before: Deposit | undefined
    for (let more = this.#below(3); more > 0; more--) deposits.push(before = this.#deposit(before))
    this.#append(time, deposits, paid)
    for (const _ of paid) this.#parts.count('withdrawal paid')
  }

  #append(time: number, deposits: Deposit[], paid: number[], firstLog = this.#below(2)): void {
    const number = this.#blocks.length
    const placed = deposits.map((each, at) => ({ ...each, logIndex: firstLog + at }))
    this.#blocks.push({ number, time, hash: hash(`block ${number} ${++this.#hashes}`), deposits: placed, paid })
  }

  /** One in three is another of the transaction before it. */
  #deposit(before: Deposit | undefined): Deposit {
    const wallet = this.#below(WALLETS)
    const asset = this.#below(10) === 0 ? -1 : this.#below(3)
    const txHash = before !== undefined && this.#below(3) === 0 ? before.txHash : hash(`deposit ${++this.#made}`)
    return {
      txHash, logIndex: 0, beneficiary: String(wallet + 1).padStart(40, '0'), application: 0, asset,
      amount: asset < 0 || this.#below(12) === 0 ? 0n : BigInt(1 + this.#below(5000)), remainder: BigInt(this.#below(3)),
    }
  }

  /**
   * The last `depth` blocks are others from now on. Near the tip transactions may vanish and come later or never; behind the confirmations
   * all stand in other blocks, and nothing else changes.
   */
  #reorganise(depth: number, deep: boolean): void {
    if (this.#blocks.length <= depth + 1) return
    this.#parts.count(deep ? 'deep reorganisation' : 'reorganisation')
    const dropped = this.#blocks.splice(-depth)
    if (!deep) {
      const back = dropped.flatMap(({ deposits }) => deposits)
      for (const txHash of new Set(back.map((each) => each.txHash))) {
        if (this.#below(4) > 0) this.#waiting.push(back.filter((each) => each.txHash === txHash))
      }
        return this.#append(this.#tip.time + 500, [], [])
    }
    // One block more, so that none stands where it stood; and in their blocks logs of others come first, or no longer.
    this.#append(dropped[0]!.time, [], [])
    for (const { time, deposits, paid } of dropped) this.#append(time, deposits, paid, this.#below(3))
  }

  /** The journaled block is still that of the chain; otherwise nothing of the chain is said but that, by the operator. */
  #follows(life: Life, state: State): boolean {
    if (state.vault[VAULT.CHAINS] === 0) {
      const { time, hash: blockHash } = this.#blocks[0]!
      this.#post(life, CommandType.ADVANCE_CHAIN, { chain: 0, rewind: 0, chainId: CHAIN_ID, block: 0, blockTime: time, blockHash })
      return false
    }
    const cursor = cursorOf(state)
    const known = this.#blocks[cursor.block]
    const same = known?.hash === cursor.hash
    // What a look of this life has under way is held against the chain when it is over.
    if (same && (this.#look?.life === life || this.#hasTaken(state))) return true
    this.#look = null
    if (this.#below(6) > 0) return false
    this.#parts.count(same ? 'chain rewound to where it is' : 'chain rewound')
    const back = this.#blocks[same ? cursor.block : Math.max(0, cursor.block - 16)]!
    this.#post(life, CommandType.ADVANCE_CHAIN, {
      chain: 0, rewind: 1, chainId: CHAIN_ID, block: back.number, blockTime: back.time, blockHash: back.hash,
    })
    return false
  }

  /** Deposits that were taken behind the cursor are where they were, and none is before the last of them that was not. */
  #hasTaken(state: State): boolean {
    const cursor = cursorOf(state)
    const taken = takenOf(state).filter(({ block }) => block > cursor.block)
    const left = new Set(taken.map(nameOf))
    for (const { number, deposits } of this.#blocks.slice(cursor.block + 1)) {
      for (const each of deposits) {
        const passed = number < cursor.last[0] || (number === cursor.last[0] && each.logIndex <= cursor.last[1])
        if (!left.delete(nameOf({ ...each, block: number })) && passed) return false
      }
    }
    return left.size === 0
  }

  /** Deposits of the blocks that are confirmed and not read; each is answered before the exchange is told that all were sent. */
  #deposits(life: Life, state: State): void {
    const cursor = cursorOf(state)
    if (this.#look !== null && this.#look.life !== life) this.#look = null
    const to = this.#confirmed
    if (this.#look === null) {
      if (to.number <= cursor.block || this.#below(3) > 0) return
      const read = this.#blocks.slice(cursor.block + 1, to.number + 1)
      const deposits = read.flatMap((block) => block.deposits.map((each) => ({ ...each, block: block.number })))
      this.#look = { life, to, deposits, sent: 0, done: 0 }
    }
    const look = this.#look
    while (look.sent < look.deposits.length && look.sent - look.done < WINDOW) {
      const { block, ...deposit } = look.deposits[look.sent]!
      const values = { chain: 0, block, ...deposit, token: hash(`token ${deposit.asset}`).slice(0, 40) }
      const answered = (code: number): void => {
        if (code !== 0) throw new Violation(`a deposit in its order was refused with ${code}`)
        look.done++
      }
      if (!this.#post(life, CommandType.CREDIT_DEPOSIT, values, answered)) return
      look.sent++
      // The same once more, as after an answer that never came.
      if (this.#below(10) === 0) this.#post(life, CommandType.CREDIT_DEPOSIT, values)
    }
    if (look.done < look.deposits.length) return
    // The chain may be another by now: then nothing is said of it.
    if (this.#blocks[look.to.number] === look.to) {
      const { number, time, hash: blockHash } = look.to
      const values = { chain: 0, rewind: 0, chainId: CHAIN_ID, block: number, blockTime: time, blockHash }
      if (!this.#post(life, CommandType.ADVANCE_CHAIN, values)) return
    }
    this.#look = null
  }

  /** What the chain says of a withdrawal; one word at a time. */
  #advance(life: Life, state: State, row: Row): void {
    const what = this.#next(state, row)
    if (what === null || this.#asked.get(row.sequence) === life) return
    const posted = this.#post(life, CommandType.ADVANCE_WITHDRAWAL, {
      row: row.row, withdrawalSequence: row.sequence, to: 0, deadline: 0, block: 0, txHash: '', ...what,
    }, () => this.#asked.delete(row.sequence))
    if (posted) this.#asked.set(row.sequence, life)
  }

  #next(state: State, { sequence, status, needsApproval }: Row): Decoded | null {
    const used = this.#usedIn(sequence)
    if (status === WithdrawalStatus.PENDING) {
      if (needsApproval) return null
      const now = Math.max(this.#tip.time, state.clock[CLOCK.TIME]!) + LIFETIME_MS
      return { to: WithdrawalStatus.SIGNED, deadline: Math.ceil(now / 1000) * 1000 }
    }
    const txHash = hash(`payment ${sequence}`)
    if (used !== undefined && used.number <= this.#confirmed.number) return { to: WithdrawalStatus.CONFIRMED, block: used.number, txHash }
    if (used !== undefined) {
      return status === WithdrawalStatus.SUBMITTED ? null : { to: WithdrawalStatus.SUBMITTED, block: used.number, txHash }
    }
    const { number, time } = this.#confirmed
    // One that was signed since the last turn cannot be over.
    if (time > (this.#authorised.get(sequence)?.deadline ?? Infinity)) return { to: WithdrawalStatus.EXPIRED, block: number }
    return status === WithdrawalStatus.SUBMITTED ? { to: WithdrawalStatus.SIGNED } : null
  }

  #post(life: Life, type: CommandType, values: Decoded, answered: (code: number) => void = () => undefined): boolean {
    return this.#parts.operator.post(life, type, values, answered)
  }

  /**
   * The outside ledger: what the exchange says came in is what came in, once each; and what it says it paid is what the chain paid, but for
   * what is still under way and what the operator accepted as lost.
   */
  check(state: State): void {
    const taken = this.#taken(state)
    const open = new Set(rowsOf(state).map(({ sequence }) => sequence))
    for (const asset of state.genesis.assets.map(({ index }) => index)) {
      let [deposited, withdrawn] = [0n, 0n]
      for (const deposit of taken) if (deposit.asset === asset) deposited += deposit.amount
      for (const sequence of this.#blocks.flatMap(({ paid }) => paid)) {
        const paid = this.#authorised.get(sequence)!
        if (paid.asset === asset && !paid.lost && !open.has(sequence)) withdrawn += paid.amount
      }
      const said = (word: number): bigint => state.vaultTotalsI64[(asset * VAULT_TOTAL_WORDS + word) >>> 1]!
      const [cameIn, paidOut] = [said(VAULT_TOTAL.DEPOSITED), said(VAULT_TOTAL.WITHDRAWN)]
      if (cameIn !== deposited) throw new Violation(`asset ${asset}: ${deposited} atoms came in, the exchange says ${cameIn}`)
      if (paidOut !== withdrawn) throw new Violation(`asset ${asset}: ${withdrawn} atoms were paid, the exchange says ${paidOut}`)
    }
  }

  /** Those that the exchange has: of a transaction the first ones, as many as it took; all in blocks that were read. */
  #taken(state: State): Deposit[] {
    const counts = new Map<string, number>()
    for (const { txHash } of takenOf(state)) counts.set(txHash, (counts.get(txHash) ?? 0) + 1)
    const cursor = cursorOf(state)
    const follows = state.vault[VAULT.CHAINS] !== 0 && this.#blocks[cursor.block]?.hash === cursor.hash
    const taken = this.#blocks.flatMap(({ number, deposits }) => deposits.filter(({ txHash }) => {
      const left = counts.get(txHash) ?? 0
      if (left === 0 && follows && number <= cursor.block) throw new Violation(`a deposit in block ${number} was passed by`)
      if (left > 0) counts.set(txHash, left - 1)
      return left > 0
    }))
    const more = [...counts].find(([, left]) => left > 0)
    if (more !== undefined) throw new Violation(`${more[1]} deposits of transaction ${more[0]} were taken that the chain does not have`)
    return taken
  }
}

const hash = (text: string): string => Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64)

interface Taken { readonly block: number; readonly logIndex: number; readonly txHash: string }

const nameOf = ({ block, logIndex, txHash }: Taken): string => `${block}/${logIndex}/${txHash}`

/** Deposits that the exchange remembers, which are all of a run; of one that a rewind took back the place is -1. */
function takenOf({ depositIds: words, depositIdsF64, vaultF64 }: State): Taken[] {
  return Array.from({ length: vaultF64[VAULT.DEPOSITS >>> 1]! }, (_, number) => {
    const at = number * DEPOSIT_ID_WORDS
    return {
      block: words[at + DEPOSIT_ID.LOG_INDEX] === MOVED ? -1 : depositIdsF64[(at + DEPOSIT_ID.BLOCK) >>> 1]!,
      logIndex: words[at + DEPOSIT_ID.LOG_INDEX]!,
      txHash: Buffer.from(words.buffer, words.byteOffset + (at + DEPOSIT_ID.TX_HASH) * 4, 32).toString('hex'),
    }
  })
}

/** How far the exchange says that the chain was read, and the last deposit that it took. */
function cursorOf({ vaultChains, vaultChainsF64 }: State): { block: number; hash: string; last: readonly [block: number, log: number] } {
  return {
    block: vaultChainsF64[VAULT_CHAIN.BLOCK >>> 1]!,
    hash: Buffer.from(vaultChains.buffer, vaultChains.byteOffset + VAULT_CHAIN.HASH * 4, 32).toString('hex'),
    last: [vaultChainsF64[VAULT_CHAIN.DEPOSIT_BLOCK >>> 1]!, vaultChains[VAULT_CHAIN.DEPOSIT_LOG]!],
  }
}
