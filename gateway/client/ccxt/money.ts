/**
 * ccxt's verbs for money in and out. A withdrawal is asked for and then submitted by its owner to the vault on the settlement chain, which
 * ccxt has no verb for: `exchange.client.GetWithdrawalCalldata` gives the transaction, once its status is SIGNED (`info.status`).
 */
import type { Output } from '../index.ts'
import { BadSymbol, NotSupported } from './errors.ts'
import { rowsOf } from './listing.ts'
import type { Currency } from './shapes.ts'
import { TriggerVerbs } from './triggers.ts'

type Params = Readonly<Record<string, unknown>>
type Withdrawal = Output<'GetWithdrawal'>
type Movement = Output<'ListMovements'>['movements'][number]

/** For `has` of the adapter. */
export const MONEY_VERBS = ['withdraw', 'fetchWithdrawal', 'fetchDeposits', 'fetchDepositAddress'] as const

export interface Transaction {
  readonly id: string
  readonly txid: string | undefined
  readonly timestamp: number
  readonly datetime: string
  readonly type: 'deposit' | 'withdrawal'
  /** Who is paid; of a deposit it is not told. */
  readonly address: string | undefined
  readonly addressTo: string | undefined
  readonly addressFrom: undefined
  readonly tag: undefined
  readonly tagTo: undefined
  readonly tagFrom: undefined
  readonly network: undefined
  readonly currency: string
  readonly amount: number
  readonly status: 'pending' | 'ok' | 'failed' | 'canceled'
  readonly updated: undefined
  readonly internal: false
  readonly comment: undefined
  /** Fees are those of the chain. */
  readonly fee: undefined
  readonly info: unknown
}

export interface DepositAddress {
  readonly currency: string
  readonly network: undefined
  readonly address: string
  readonly tag: undefined
  readonly info: unknown
}

const STATUSES: Readonly<Record<Withdrawal['status'], Transaction['status']>> = {
  PENDING: 'pending', SIGNED: 'pending', SUBMITTED: 'pending', CONFIRMED: 'ok', FAILED: 'failed', EXPIRED: 'failed', CANCELLED: 'canceled',
}
const NOTHING = {
  addressFrom: undefined, tag: undefined, tagTo: undefined, tagFrom: undefined, network: undefined, updated: undefined, internal: false,
  comment: undefined, fee: undefined,
} as const

export function withdrawalOf(row: Withdrawal, currency: string): Transaction {
  const { id, txHash, createdAt, destination, amount, status } = row
  return {
    ...NOTHING, id, txid: txHash, timestamp: Date.parse(createdAt), datetime: createdAt, type: 'withdrawal', address: destination,
    addressTo: destination, currency, amount: Number(amount), status: STATUSES[status], info: row,
  }
}

export function depositOf(row: Movement): Transaction {
  const { id, txHash, createdAt, amount, symbol, token } = row
  return {
    ...NOTHING, id, txid: txHash, timestamp: Date.parse(createdAt), datetime: createdAt, type: 'deposit', address: undefined,
    addressTo: undefined, currency: symbol ?? token, amount: Number(amount), status: 'ok', info: row,
  }
}

export abstract class MoneyVerbs extends TriggerVerbs {
  abstract readonly currencies: Readonly<Record<string, Currency>>
  abstract currencyToPrecision(code: string, amount: number | string): string

  /** Asks for a withdrawal; it is submitted apart (above). `params`: `idempotencyKey`. */
  withdraw(code: string, amount: number | string, address: string, tag?: string, params: Params = {}): Promise<Transaction> {
    return this.privately(async () => {
      const { idempotencyKey, ...strange } = params
      const [name] = Object.keys(strange)
      if (tag !== undefined || name !== undefined) throw new NotSupported(`withdraw() has no ${name ?? 'tag'}: nothing was sent`)
      const { id: assetId } = await this.#currency(code)
      const asked = { assetId, amount: this.currencyToPrecision(code, amount), destination: address }
      const key = idempotencyKey === undefined ? {} : { idempotencyKey: String(idempotencyKey) }
      return withdrawalOf(await this.client.InitiateWithdrawal({ ...asked, ...key }), code)
    })
  }

  /** By its id; the currency is that of its asset. */
  fetchWithdrawal(id: string): Promise<Transaction> {
    return this.privately(async () => {
      const row = await this.client.GetWithdrawal({ withdrawalId: id })
      await this.loadMarkets()
      const known = Object.values(this.currencies).find((each) => each.id === row.assetId)
      return withdrawalOf(row, known?.code ?? row.token)
    })
  }

  /** Credited deposits from `since` on, or the newest; oldest first. */
  fetchDeposits(code?: string, since?: number, limit?: number): Promise<Transaction[]> {
    return this.privately(async () => {
      const filter = code === undefined ? {} : { assetId: (await this.#currency(code)).id }
      const rows = await rowsOf({
        ask: async (page) => {
          const { movements, nextPageToken } = await this.client.ListMovements({ ...page, ...filter, transactionType: 'DEPOSIT' })
          return { rows: movements, nextPageToken }
        },
        timeOf: ({ createdAt }) => createdAt,
      }, since, limit)
      return rows.map(depositOf)
    })
  }

  /** The personal deposit address, the same for every token and chain of `exchange.client.ListSweeperChains()`. */
  fetchDepositAddress(code: string): Promise<DepositAddress> {
    return this.privately(async () => {
      await this.#currency(code)
      const profile = await this.client.GetProfile()
      if (profile.depositAddress === null) throw new NotSupported('the exchange takes no deposits now')
      return { currency: code, network: undefined, address: profile.depositAddress, tag: undefined, info: profile }
    })
  }

  async #currency(code: string): Promise<Currency> {
    await this.loadMarkets()
    const found = Object.hasOwn(this.currencies, code) ? this.currencies[code] : undefined
    if (found === undefined) throw new BadSymbol(`no market has the currency ${code}`)
    return found
  }
}
