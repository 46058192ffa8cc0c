/**
 * What the events do not say of an account and what never changes: its application, who pays for its orders that a master funds, and the
 * sequence that made it. All are written with the account's row and stay, so that reading them from the engine's columns, at whatever
 * moment after the account was made, keeps the projection a function of the journal. Only a blank account's row may become another's, a
 * day after anything happened to it: never within a batch of the journal.
 */
import { ACCOUNT, PROFILE } from '../../state/columns.ts'
import { accountRow, get, getF64, profileRow } from '../../state/rows.ts'
import type { State } from '../../state/state.ts'
import { Flag } from '../../layout/command.ts'

export interface Identities {
  /** Row of the application of `account`. */
  applicationOf(account: number): number
  /** Whose balances an order of `account` with these flags moves: the master's or its own. */
  payerOf(account: number, flags: number): number
  /** The sequence that made an account that has traded, whose row is its own for good: with the row it is its public id. */
  createdSequenceOf(account: number): number
  /** Public id of a pair. */
  pairId(pair: number): string
}

/** Those of the accounts of `state`, which is at or after the events at hand. */
export function identitiesOf(state: State): Identities {
  return {
    applicationOf: (account) => get(state, accountRow(state, account), ACCOUNT.APPLICATION),
    payerOf: (account, flags) => {
      if ((flags & Flag.MASTER_FUNDED) === 0) return account
      const master = get(state, profileRow(state, account), PROFILE.MASTER) - 1
      if (master < 0) throw new Error(`account ${account} has an order that its master pays for, and no master`)
      return master
    },
    createdSequenceOf: (account) => getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE),
    pairId: (pair) => state.genesis.pairs[pair]!.id,
  }
}
