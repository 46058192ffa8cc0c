/**
 * Personal deposit addresses are swept into the vault: which of them were paid is seen in the Transfer logs of the tokens.
 *
 * The addresses of all accounts are known, made a bounded number a turn; logs are read only once those of every account are. Logs are read
 * from a while before the start on, and an address that is found is swept when it holds the least amount that is worth it. A sweep may be
 * taken back with its block, so an address is done with when a block that counts has it empty. Anybody may sweep, so nothing of this has
 * to be remembered; a payment that was overlooked is swept with the next one to its address.
 */
import { encodeFunctionData } from 'viem'
import { FACTORY_ABI } from './artifacts.ts'
import type { ChainSight } from './chain_watch.ts'
import { depositAddresses, type DepositAddresses } from './deposit_address.ts'
import { readTransferred, TRANSFER_TOPIC } from './events.ts'
import { Job } from './job.ts'
import type { ChainParts } from './parts.ts'
import type { ChainToken } from './tokens.ts'
import { SendRefused, type At, type Hex } from './types.ts'
import { toHex } from '../values.ts'

/** Addresses that are made in one turn: about 10 ms of work. */
const ADDRESSES_PER_TURN = 256
/** Blocks of one turn, and before the confirmed one at the start. */
const BLOCKS_PER_TURN = 2_000
const BLOCKS_BACK = 50_000
/** Sweeps of one transaction, and addresses that wait for one. */
const SWEEPS = 20
const WAITING_MAX = 4_096

export type SweeperParts = Omit<ChainParts, 'commands'>

/** An address that was paid. */
interface Found {
  readonly account: number
  readonly forwarder: Hex
  readonly token: ChainToken
  /** It is empty in this block, and is looked at again when that counts; -1: it holds something, as far as is known. */
  emptyIn: number
}

export class Sweeper {
  readonly #parts: SweeperParts
  readonly #addressOf: DepositAddresses
  readonly #job: Job
  /** Account by deposit address; which sequence made the account that a row's address is of. */
  readonly #accounts = new Map<string, number>()
  readonly #madeBy: Float64Array
  #known = 0
  #turns = 0
  /** From where on rows are looked at again, because one of them went to another wallet. */
  #again = -1
  #read: At | null = null
  readonly #waiting = new Map<string, Found>()
  /** After one failed together they are swept one by one. */
  #alone = false
  sweeps = 0

  constructor(parts: SweeperParts) {
    this.#parts = parts
    this.#addressOf = depositAddresses(parts.places.factory)
    this.#job = new Job('sweeping deposit addresses', parts.tell, parts.clock)
    this.#madeBy = new Float64Array(parts.books.genesis.limits.accounts)
  }

  /** One bounded turn. Throws ChainUnavailable. */
  async look(sight: ChainSight): Promise<void> {
    if (this.#learn() && this.#waiting.size < WAITING_MAX) await this.#readOn(sight.confirmed)
    if (this.#waiting.size > 0) this.#job.start(() => this.#sweep(sight))
  }

  idle(): Promise<void> {
    return this.#job.idle()
  }

  /** Makes addresses; whether all accounts have theirs. */
  #learn(): boolean {
    const { books } = this.#parts
    const turns = books.turns()
    if (turns !== this.#turns) {
      this.#turns = turns
      this.#again = 0
    }
    const accounts = Math.min(books.accounts(), this.#madeBy.length)
    let made = 0
    for (; this.#again >= 0 && made < ADDRESSES_PER_TURN; ) {
      if (this.#again >= this.#known) this.#again = -1
      else if (this.#make(this.#again++)) made++
    }
    for (; this.#known < accounts && made < ADDRESSES_PER_TURN; this.#known++) if (this.#make(this.#known)) made++
    return this.#known === accounts && this.#again < 0
  }

  /** Whether an address was made. */
  #make(row: number): boolean {
    const { books } = this.#parts
    const { createdSequence, application, address } = books.account(row)
    if (application < 0 || createdSequence === this.#madeBy[row] || books.isSubAccount(row)) return false
    this.#madeBy[row] = createdSequence
    this.#accounts.set(this.#addressOf(toHex(address), books.applicationBytes(application)), row)
    return true
  }

  /** Reads logs up to the block, a bounded number of blocks. */
  async #readOn(confirmed: At): Promise<void> {
    const { node, tokens, first } = this.#parts
    const from = this.#read === null ? Math.max(await first(), confirmed.number - BLOCKS_BACK) : this.#read.number + 1
    if (from > confirmed.number || tokens.size === 0) return
    const number = Math.min(from + BLOCKS_PER_TURN - 1, confirmed.number)
    const to = number === confirmed.number ? confirmed : await node.block(number)
    if (to === null) return
    const addresses = [...tokens.values()].map(({ token }) => token)
    for (const log of await node.logs({ from, to, addresses, topics: [TRANSFER_TOPIC] })) {
      const paid = readTransferred(log)
      const [account, token] = paid === null ? [undefined, undefined] : [this.#accounts.get(paid.to), tokens.get(paid.token)]
      if (paid === null || account === undefined || token === undefined) continue
      this.#waiting.set(`${paid.to} ${token.token}`, { account, forwarder: paid.to, token, emptyIn: -1 })
    }
    this.#read = { number: to.number, hash: to.hash }
  }

  /** Sweeps some of those that wait. */
  async #sweep({ head, confirmed }: ChainSight): Promise<void> {
    const { places, sender } = this.#parts
    const some: [string, Found][] = []
    for (const [key, found] of this.#waiting) {
      if (some.length === (this.#alone ? 1 : SWEEPS)) break
      if (found.emptyIn > confirmed.number) continue
      if (!this.#isStill(found)) this.#waiting.delete(key)
      else if (await this.#isWorthIt(found)) some.push([key, found])
      else if (await this.#isWorthIt(found, confirmed)) found.emptyIn = head.number
      else this.#waiting.delete(key)
    }
    if (some.length === 0) return
    const data = encodeFunctionData({ abi: FACTORY_ABI, functionName: 'sweepMany', args: [some.map(([, found]) => this.#call(found))] })
    try {
      const { succeeded, txHash, block } = await sender.send(places.factory, data)
      if (!succeeded) throw new SendRefused(`it reverted in ${txHash}`)
      this.#alone = false
      this.sweeps += some.length
      for (const [, found] of some) found.emptyIn = block
    } catch (error) {
      if (error instanceof SendRefused) this.#refused(some)
      throw error
    }
  }

  /** Whether the address holds the least amount of a sweep now, or at that block. */
  async #isWorthIt({ token, forwarder }: Found, at?: At): Promise<boolean> {
    return (await this.#parts.node.balanceOf(token.token, forwarder, at)) >= token.minSweep
  }

  /** One of them cannot be swept now: they are tried one by one, and the one that fails alone goes behind all others. */
  #refused(some: readonly [string, Found][]): void {
    this.#alone = some.length > 1
    if (some.length > 1) return
    const [key, found] = some[0]!
    this.#waiting.delete(key)
    this.#waiting.set(key, found)
  }

  /** The row may be of another wallet by now. */
  #isStill({ account, forwarder }: Found): boolean {
    const { beneficiary, application } = this.#owner(account)
    return this.#addressOf(beneficiary, application) === forwarder
  }

  #call({ account, token }: Found): { beneficiary: Hex; application: Hex; token: Hex } {
    return { ...this.#owner(account), token: token.token }
  }

  #owner(account: number): { beneficiary: Hex; application: Hex } {
    const { books } = this.#parts
    const { address, application } = books.account(account)
    return { beneficiary: toHex(address), application: books.applicationBytes(Math.max(0, application)) }
  }
}
