/**
 * Calldata of withdrawals for gateways: an authorisation is signed each time it is asked for, from the journaled row, and is always the
 * same. The queue is bounded, and so is what one account has in it, so that nobody fills it for others.
 */
import type { MessagePort } from 'node:worker_threads'
import { WithdrawalStatus, WithdrawalStop } from '../../../core/layout/vault.ts'
import type { WithdrawalView } from '../../../core/view/vault.ts'
import { rawOf } from './amounts.ts'
import type { Books } from './books.ts'
import type { Calldata, CalldataAsk, CalldataReply, PlacesMessage, Unavailable } from './messages.ts'
import { tokenOfAsset, type ChainToken } from './tokens.ts'
import { withdrawCalldata } from './typed_data.ts'
import type { Authorisation, Hex, Places, Signer } from './types.ts'

/** Authorisations that are being signed, and those of one account. */
const OPEN_MAX = 128
const OPEN_PER_ACCOUNT = 4

export interface CalldataParts {
  readonly books: Books
  readonly tokens: ReadonlyMap<string, ChainToken>
  readonly signer: Pick<Signer, 'authorise'>
  /** `null`: the contracts are not known yet. */
  readonly places: () => Places | null
  /** Sequenced time, Unix ms. */
  readonly time: () => number
}

export class CalldataDesk {
  readonly #parts: CalldataParts
  readonly #ports = new Set<MessagePort>()
  readonly #ofAccount = new Map<number, number>()
  #open = 0
  #said: PlacesMessage | null = null
  /** Answered with calldata; not answered, because the signer was away or refused. */
  signed = 0
  failed = 0

  constructor(parts: CalldataParts) {
    this.#parts = parts
  }

  serve(port: MessagePort): void {
    this.#ports.add(port)
    port.on('message', async (ask: CalldataAsk) => {
      const answer = await this.answer(ask)
      port.postMessage(
        (typeof answer === 'string' ? { id: ask.id, unavailable: answer } : { id: ask.id, calldata: answer }) satisfies CalldataReply,
      )
    })
    port.on('close', () => this.#ports.delete(port))
    if (this.#said !== null) port.postMessage(this.#said)
  }

  /** Tells gateways where the contracts are, when that is something new. */
  publish(connected: boolean): void {
    const places = this.#parts.places()
    if (this.#said !== null && this.#said.connected === connected && this.#said.places === places) return
    this.#said = { type: 'places', places, connected }
    for (const port of this.#ports) port.postMessage(this.#said)
  }

  async answer({ row, sequence }: CalldataAsk): Promise<Calldata | Unavailable> {
    const { books, signer } = this.#parts
    const view = books.withdrawal(row, sequence)
    const places = this.#parts.places()
    if (view === null) return 'NOT_SIGNED'
    const why = this.#refusal(view)
    if (why !== null) return why
    const authorisation = this.#authorisation(view)
    if (places === null || authorisation === null) return 'SIGNER'
    const own = this.#ofAccount.get(view.account) ?? 0
    if (this.#open >= OPEN_MAX || own >= OPEN_PER_ACCOUNT) return 'BUSY'
    this.#count(view.account, 1)
    try {
      const signature = await signer.authorise(authorisation)
      this.signed++
      return {
        chainId: places.chainId, to: places.vault, data: withdrawCalldata(authorisation, signature), value: '0', nonce: String(sequence),
        expiresAt: view.deadline,
      }
    } catch {
      // Away, or it refuses: what it says is no business of users.
      this.failed++
      return 'SIGNER'
    } finally {
      this.#count(view.account, -1)
    }
  }

  close(): void {
    for (const port of this.#ports) port.close()
  }

  #refusal({ status, deadline }: WithdrawalView): Unavailable | null {
    const { books, time } = this.#parts
    if (books.stopped() !== WithdrawalStop.NONE) return 'STOPPED'
    if (status !== WithdrawalStatus.SIGNED && status !== WithdrawalStatus.SUBMITTED) return 'NOT_SIGNED'
    return deadline <= time() ? 'EXPIRED' : null
  }

  #authorisation({ asset, amount, destination, sequence, deadline }: WithdrawalView): Authorisation | null {
    const token = tokenOfAsset(this.#parts.tokens, asset)
    const raw = token === undefined ? null : rawOf(amount, token.decimals, token.asset.scale)
    if (token === undefined || raw === null) return null
    return { token: token.token, amount: raw, destination: destination as Hex, nonce: BigInt(sequence), deadline: BigInt(deadline / 1000) }
  }

  #count(account: number, more: 1 | -1): void {
    this.#open += more
    const own = (this.#ofAccount.get(account) ?? 0) + more
    if (own === 0) this.#ofAccount.delete(account)
    else this.#ofAccount.set(account, own)
  }
}
