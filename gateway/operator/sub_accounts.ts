/**
 * Sub-accounts whose wallets have not agreed to their masters, for an operator. They were linked before consent was asked for; masters can
 * take nothing from them until the wallets sign in or agree.
 *
 * A listing walks all rows of accounts in slices and answers in pages: of 1,000, oldest first, each with what comes after it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SCALAR } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { Applications } from '../../core/view/applications.ts'
import { hasConsented, masterOf } from '../../core/view/families.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { json, refuse, type Answer, type Handler } from './http.ts'
import { hasAccount } from './policy.ts'

/** Sub-accounts in one answer. */
export const UNCONSENTED_MAX = 1000
/** Rows between two turns of the thread. */
const SLICE_ROWS = 16_384

export interface UnconsentedList {
  readonly subAccounts: readonly Unconsented[]
  /** The last one's user id when there may be more; `null`: that was all. */
  readonly next: string | null
}

export interface Unconsented {
  readonly userId: string
  readonly address: string
  readonly application: string
  readonly createdAt: string
  readonly master: { readonly userId: string; readonly address: string }
}

/** Who is where: GET with `after`, the user id that a page before ended with. */
export function createUnconsented(state: State, applications: Applications): Handler {
  const walletOf = (account: number): { userId: string; address: string } => {
    const { createdSequence, address } = readAccount(state, account)
    return { userId: userId(createdSequence, account), address: checksumAddress(`0x${Buffer.from(address).toString('hex')}`) }
  }
  const record = (account: number): Unconsented => {
    const { application, createdAt } = readAccount(state, account)
    return {
      ...walletOf(account),
      application: applications.at(application)?.name ?? '',
      createdAt: new Date(createdAt).toISOString(),
      master: walletOf(masterOf(state, account)),
    }
  }

  return async (request): Promise<Answer> => {
    const after = new URL(request.url!, 'http://localhost').searchParams.get('after')
    const id = after === null ? null : parseId(IdKind.USER, after)
    if (after !== null && (id === null || !hasAccount(state, id.slot, id.sequence))) return refuse('VALIDATION_ERROR', { field: 'after' })
    const subAccounts: Unconsented[] = []
    const count = state.scalars[SCALAR.ACCOUNTS]!
    for (let account = id === null ? 0 : id.slot + 1; account < count; account++) {
      if (account % SLICE_ROWS === 0) await nextTurn()
      if (masterOf(state, account) < 0 || hasConsented(state, account)) continue
      subAccounts.push(record(account))
      if (subAccounts.length === UNCONSENTED_MAX) return json(200, { subAccounts, next: subAccounts.at(-1)!.userId })
    }
    return json(200, { subAccounts, next: null })
  }
}
