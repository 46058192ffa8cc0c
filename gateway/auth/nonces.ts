/**
 * Nonces of challenges. Nothing is stored when one is issued: a nonce says when it was, and proves by a code that only this process can
 * make what it is bound to. Asking for challenges, however often, therefore takes no memory and no room from anybody.
 *
 *   nonce = issued at, Unix ms (6 bytes) | random (10) | first 16 bytes of HMAC-SHA256 over both and the bond, as 64 hex digits
 *
 * Stored are the spent ones, so that a nonce is good once: it is taken while its signature is looked at, spent when its wallet made the
 * signature, and given back otherwise. Only wallets that sign make the store grow. Two generations take turns, each for the lifetime of a
 * nonce, so a spent nonce is remembered until it would have expired anyway. A wallet and a client network have shares of the store, and the
 * last tenth is for networks that hold few; at a bound nothing is verified, so no nonce is ever good twice.
 *
 * The key is drawn at each start: what was asked for before a restart is invalid after it, and so nothing that was spent is good again.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** A challenge is good for 5 minutes. */
export const NONCE_LIFETIME_MS = 300_000

/** What a wallet is asked to agree to: a session of its own, or that another wallet controls its account. */
export type Purpose = 'sign-in' | 'consent'

/** What a nonce is bound to. */
export interface Bond {
  readonly purpose: Purpose
  /** Wallet that signs, 0x and 40 lowercase hex digits. */
  readonly address: string
  /** 64 lowercase hex digits: the wallet's own session, or of a consent the master's. */
  readonly sessionPublicKey: string
  /** Index of the application. */
  readonly application: number
  /** Wallet of the master whose sub-account `address` is, or is to become; `null`: none. Lowercase. */
  readonly master: string | null
}

export interface Nonce extends Bond {
  readonly nonce: string
  /** Unix ms. */
  readonly issuedAt: number
  readonly expiresAt: number
}

const TIME_BYTES = 6
const RANDOM_BYTES = 10
const CODE_BYTES = 16
const NONCE_FORM = /^[0-9a-f]{64}$/

export interface NonceSeal {
  issue(bond: Bond): Nonce
  /** The nonce of this text, when it was issued for this bond and has not expired; else `null`. Whether it was spent is not asked. */
  open(text: string, bond: Bond): Nonce | null
}

/** `key`: 32 secret bytes. `now`: Unix ms, never going back. `random`: fresh bytes. */
export function createNonceSeal(key: Uint8Array, now: () => number, random: (bytes: number) => Uint8Array): NonceSeal {
  const code = (head: Uint8Array, { purpose, address, sessionPublicKey, application, master }: Bond): Buffer =>
    createHmac('sha256', key).update(head)
      .update(`\n${purpose}\n${address}\n${sessionPublicKey}\n${application}\n${master ?? ''}`).digest().subarray(0, CODE_BYTES)

  return {
    issue(bond) {
      const issuedAt = Math.floor(now())
      const head = Buffer.alloc(TIME_BYTES + RANDOM_BYTES)
      head.writeUIntBE(issuedAt, 0, TIME_BYTES)
      head.set(random(RANDOM_BYTES), TIME_BYTES)
      const nonce = Buffer.concat([head, code(head, bond)]).toString('hex')
      return { ...bond, nonce, issuedAt, expiresAt: issuedAt + NONCE_LIFETIME_MS }
    },
    open(text, bond) {
      if (!NONCE_FORM.test(text)) return null
      const bytes = Buffer.from(text, 'hex')
      const head = bytes.subarray(0, TIME_BYTES + RANDOM_BYTES)
      if (!timingSafeEqual(bytes.subarray(TIME_BYTES + RANDOM_BYTES), code(head, bond))) return null
      const issuedAt = head.readUIntBE(0, TIME_BYTES)
      const expiresAt = issuedAt + NONCE_LIFETIME_MS
      return expiresAt > now() ? { ...bond, nonce: text, issuedAt, expiresAt } : null
    },
  }
}

/** `spent`: or taken by another verify. `share`: the wallet or the network has as many as it may. `full`: all have. */
export type Taking = 'taken' | 'spent' | 'share' | 'full'

export interface SpentNonces {
  /** Takes a nonce for the time its signature is looked at. */
  take(nonce: string, wallet: string, network: string): Taking
  /** Ends a taken nonce: its wallet signed. */
  spend(nonce: string, wallet: string, network: string): void
  /** Frees a taken nonce for another verify. */
  giveBack(nonce: string): void
  /** Nonces remembered as spent. */
  readonly size: number
}

/** Parts of the store: one wallet's, one network's, and what only networks with at most {@link FEW} get. */
const WALLET_PART = 16
const NETWORK_PART = 4
const RESERVED_PART = 10
const FEW = 64

class Generation {
  readonly nonces = new Set<string>()
  readonly wallets = new Map<string, number>()
  readonly networks = new Map<string, number>()
}

const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

/** A store of at most `limit` nonces. `now`: ms, never going back. */
export function createSpentNonces(limit: number, now: () => number): SpentNonces {
  const taken = new Set<string>()
  const ofWallet = Math.max(1, Math.floor(limit / WALLET_PART))
  const ofNetwork = Math.max(1, Math.floor(limit / NETWORK_PART))
  const common = limit - Math.floor(limit / RESERVED_PART)
  let [present, before] = [new Generation(), new Generation()]
  let since = now()

  function turn(): void {
    const time = now()
    if (time - since < NONCE_LIFETIME_MS) return
    before = time - since < 2 * NONCE_LIFETIME_MS ? present : new Generation()
    present = new Generation()
    since = time
  }
  const size = (): number => present.nonces.size + before.nonces.size
  const held = (of: 'wallets' | 'networks', key: string): number => (present[of].get(key) ?? 0) + (before[of].get(key) ?? 0)

  return {
    take(nonce, wallet, network) {
      turn()
      if (taken.has(nonce) || present.nonces.has(nonce) || before.nonces.has(nonce)) return 'spent'
      // What is taken may be spent: it counts as if it were, or many at once would pass the bound.
      const total = size() + taken.size
      if (total >= limit || (total >= common && held('networks', network) >= FEW)) return 'full'
      if (held('wallets', wallet) >= ofWallet || held('networks', network) >= ofNetwork) return 'share'
      taken.add(nonce)
      return 'taken'
    },
    spend(nonce, wallet, network) {
      turn()
      taken.delete(nonce)
      present.nonces.add(nonce)
      add(present.wallets, wallet)
      add(present.networks, network)
    },
    giveBack(nonce) {
      taken.delete(nonce)
    },
    get size() {
      return size()
    },
  }
}
