/**
 * The vault, the factory and their tokens once more, slow and obvious, in maps: what every call must do, and which error it must end with.
 * Made from what the contracts promise (data/contracts/README.md), as an oracle for random calls (vault_fuzz.ts).
 */
import type { Hex } from 'viem'
import { DAY, MAX, ZERO } from './vault_ground.ts'

/** Modes of the hostile token that are drawn; numbers of contracts/HostileToken.sol. */
export const MODES = { Honest: 0, Silent: 1, False: 2, Lies: 3, Reverts: 4, Fee: 5, Surcharge: 6 } as const
export type Mode = keyof typeof MODES

/** An error of a contract by its name; what was changed before it is taken back by whoever called. */
export class Refused extends Error {}
function require(holds: boolean, error: string): void {
  if (!holds) throw new Refused(error)
}

export interface Batch { readonly through: bigint; readonly postedAt: bigint }
export interface Listing { listed: boolean; known: boolean; limit: bigint; day: bigint; used: bigint }
export interface Sweep { readonly beneficiary: Hex; readonly application: Hex; readonly forwarder: Hex; readonly token: Hex }
export interface Payment {
  readonly token: Hex; readonly amount: bigint; readonly destination: Hex; readonly nonce: bigint; readonly deadline: bigint
  /** Whose signature of exactly this it carries; `null`: of something else. */
  readonly signer: Hex | null
}
/** What was told: a deposit's number, token and amount. */
export type Told = readonly [id: bigint, token: Hex, amount: bigint]

export class VaultModel {
  time: bigint
  owner: Hex
  pendingOwner: Hex = ZERO
  operator: Hex
  pendingOperator: Hex = ZERO
  paused = false
  deposits = 0n
  /** Whether the factory knows the vault. */
  factoryOpen = false
  mode: Mode = 'Honest'
  readonly batches: Batch[] = []
  readonly nonces = new Set<bigint>()
  readonly listings = new Map<Hex, Listing>()
  /** By token and account. */
  balances = new Map<string, bigint>()
  /** What the vault may take, by token and account. */
  allowances = new Map<string, bigint>()
  readonly minted = new Set<string>()
  readonly vault: Hex
  readonly hostile: Hex
  /** Addresses with code. */
  readonly contracts: ReadonlySet<Hex>

  constructor(places: { vault: Hex; hostile: Hex; contracts: readonly Hex[]; owner: Hex; operator: Hex; time: bigint }) {
    this.vault = places.vault
    this.hostile = places.hostile
    this.contracts = new Set(places.contracts)
    this.owner = places.owner
    this.operator = places.operator
    this.time = places.time
  }

  balance(token: Hex, who: Hex): bigint {
    return this.balances.get(token + who) ?? 0n
  }

  add(token: Hex, who: Hex, amount: bigint): void {
    this.balances.set(token + who, this.balance(token, who) + amount)
  }

  listing(token: Hex): Listing {
    const known = this.listings.get(token)
    if (known !== undefined) return known
    const made = { listed: false, known: false, limit: 0n, day: 0n, used: 0n }
    this.listings.set(token, made)
    return made
  }

  remaining(token: Hex): bigint {
    const { listed, limit, day, used } = this.listing(token)
    const left = limit - (day === this.time / DAY ? used : 0n)
    return listed && left > 0n ? left : 0n
  }

  /** A transfer as the token does it; what it takes from the sender. */
  move(token: Hex, from: Hex, to: Hex, amount: bigint): bigint {
    const mode = token === this.hostile ? this.mode : 'Honest'
    require(mode !== 'Reverts' && mode !== 'False', 'TokenFailed')
    if (mode === 'Lies') return 0n
    const taken = mode === 'Surcharge' ? amount + amount / 10n : amount
    require(this.balance(token, from) >= taken, 'TokenFailed')
    this.add(token, from, -taken)
    this.add(token, to, mode === 'Fee' ? amount - amount / 10n : amount)
    return taken
  }

  deposit(sender: Hex, token: Hex, amount: bigint, beneficiary: Hex): Told {
    require(!this.paused, 'VaultPaused')
    require(this.listing(token).listed, 'TokenNotListed')
    require(beneficiary !== ZERO, 'ZeroAddress')
    require(amount > 0n, 'ZeroAmount')
    const allowed = this.allowances.get(token + sender) ?? 0n
    require(allowed >= amount, 'TokenFailed')
    const before = this.balance(token, this.vault)
    this.move(token, sender, this.vault, amount)
    const arrived = this.balance(token, this.vault) - before
    require(arrived > 0n, 'NothingArrived')
    if (token === this.hostile || allowed !== MAX) this.allowances.set(token + sender, allowed - amount)
    return [++this.deposits, token, arrived]
  }

  withdraw({ token, amount, destination, nonce, deadline, signer }: Payment): void {
    require(!this.paused, 'VaultPaused')
    require(this.time <= deadline, 'Expired')
    const listing = this.listing(token)
    require(listing.listed, 'TokenNotListed')
    require(amount > 0n, 'ZeroAmount')
    require(destination !== ZERO && destination !== this.vault, 'BadDestination')
    require(signer === this.operator, 'BadSignature')
    require(!this.nonces.has(nonce), 'NonceUsed')
    require(amount <= this.remaining(token), 'DailyLimit')
    require(this.move(token, this.vault, destination, amount) === amount, 'WrongAmountLeft')
    this.nonces.add(nonce)
    const today = this.time / DAY
    listing.used = listing.day === today ? listing.used + amount : amount
    listing.day = today
  }

  /** Whether there was anything to sweep. */
  sweep({ beneficiary, forwarder, token }: Sweep): Told | null {
    require(beneficiary !== ZERO, 'ZeroAddress')
    require(this.factoryOpen, 'NoVault')
    const amount = this.balance(token, forwarder)
    if (amount === 0n) return null
    require(token !== this.hostile || this.mode !== 'False', 'TokenFailed')
    this.allowances.set(token + forwarder, amount)
    const told = this.deposit(forwarder, token, amount, beneficiary)
    this.allowances.delete(token + forwarder)
    return told
  }

  setToken(sender: Hex, token: Hex, listed: boolean, limit: bigint): void {
    require(sender === this.owner, 'Forbidden')
    require(!listed || this.contracts.has(token), 'NotAContract')
    const listing = this.listing(token)
    Object.assign(listing, { listed, limit, known: listing.known || listed })
  }

  rescue(sender: Hex, token: Hex, to: Hex, amount: bigint): void {
    require(sender === this.owner, 'Forbidden')
    require(!this.listing(token).known, 'TokenKnown')
    require(to !== ZERO, 'ZeroAddress')
    this.move(token, this.vault, to, amount)
  }

  pause(sender: Hex): void {
    require(!this.paused, 'VaultPaused')
    require(sender === this.owner || sender === this.operator, 'Forbidden')
    this.paused = true
  }

  unpause(sender: Hex): void {
    require(sender === this.owner, 'Forbidden')
    require(this.paused, 'NotPaused')
    this.paused = false
  }

  propose(sender: Hex, role: 'owner' | 'operator', who: Hex): void {
    require(sender === this.owner, 'Forbidden')
    this[role === 'owner' ? 'pendingOwner' : 'pendingOperator'] = who
  }

  accept(sender: Hex, role: 'owner' | 'operator'): void {
    const pending = role === 'owner' ? 'pendingOwner' : 'pendingOperator'
    require(sender === this[pending], 'Forbidden')
    this[role] = sender
    this[pending] = ZERO
  }

  postBatch(sender: Hex, number: bigint, through: bigint): void {
    require(sender === this.operator, 'Forbidden')
    require(number === BigInt(this.batches.length) + 1n, 'BatchOutOfOrder')
    require(through > (this.batches.at(-1)?.through ?? 0n), 'ThroughNotRising')
    this.batches.push({ through, postedAt: this.time })
  }

  mint(isMinter: boolean, token: Hex, id: Hex, to: Hex, amount: bigint): void {
    require(isMinter, 'Forbidden')
    require(to !== ZERO, 'ZeroAddress')
    if (this.minted.has(token + id)) return
    this.minted.add(token + id)
    this.add(token, to, amount)
  }
}
