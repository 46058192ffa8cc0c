/**
 * What somebody outside sees of a vault, by its events and balances alone, and what must always hold of it. It knows nothing of how calls
 * are answered: a fault that the model shares with the contract is still one here.
 */
import type { Hex } from 'viem'
import { DAY, MAX, type Event } from './vault_ground.ts'

export class VaultLedger {
  readonly #vault: Hex
  readonly #held = new Map<Hex, bigint>()
  /** Deposited less withdrawn, by token. */
  readonly #owed = new Map<Hex, bigint>()
  readonly #nonces = new Set<bigint>()
  /** Paid on a day, by token. */
  readonly #paid = new Map<string, bigint>()
  #deposits = 0n
  #batch = 0n
  #through = 0n
  #wrong: string | null = null

  constructor(vault: Hex) {
    this.#vault = vault
  }

  holds(token: Hex, amount: bigint): void {
    this.#held.set(token, amount)
  }

  /** Events of one call at this time, with the limit that stood for a token. */
  see(events: readonly Event[], time: bigint, limitOf: (token: Hex) => bigint): void {
    for (const { address, name, args } of events) {
      if (address !== this.#vault) continue
      const { token, amount } = args as { token: Hex; amount: bigint }
      if (name === 'Deposit') {
        this.#must(args['id'] === ++this.#deposits, 'deposits are numbered without gaps')
        this.#must(amount > 0n, 'a deposit is of something')
        this.#owe(token, amount)
      }
      if (name === 'Withdrawal') this.#pay(token, amount, args['nonce'] as bigint, time / DAY, limitOf(token))
      if (name === 'BatchPosted') {
        this.#must(args['number'] === ++this.#batch, 'batches are numbered without gaps')
        this.#must((args['through'] as bigint) > this.#through, 'batches go on from each other')
        this.#through = args['through'] as bigint
      }
    }
  }

  #pay(token: Hex, amount: bigint, nonce: bigint, day: bigint, limit: bigint): void {
    this.#must(!this.#nonces.has(nonce), 'a nonce pays once')
    this.#nonces.add(nonce)
    this.#owe(token, -amount)
    const paid = (this.#paid.get(token + day) ?? 0n) + amount
    this.#paid.set(token + day, paid)
    this.#must(limit === MAX || paid <= limit, 'no more than its limit leaves on a day')
  }

  #owe(token: Hex, amount: bigint): void {
    this.#owed.set(token, (this.#owed.get(token) ?? 0n) + amount)
  }

  #must(holds: boolean, what: string): void {
    if (!holds) this.#wrong ??= `it does not hold that ${what}`
  }

  /** What does not hold; `null`: all does. */
  wrong(): string | null {
    for (const [token, owed] of this.#owed) {
      this.#must((this.#held.get(token) ?? 0n) >= owed, `the vault holds what it owes of ${token}: ${owed}`)
    }
    return this.#wrong
  }
}
