/**
 * What people call the things that records have numbers of: symbols, the ids of the wire, wallets.
 *
 * A number means what it meant right after the command that is being told, so everything is looked up in the state of that moment: the row
 * of a blank account goes to another wallet, pairs are listed. A number that nothing has, as refused commands may name, is `#NUMBER`.
 */
import { agentId, applicationId, formatId, IdKind, userId } from '../layout/ids.ts'
import { ACCOUNT, AGENT, APPLICATION, SCALAR, SESSION } from '../state/columns.ts'
import type { Asset, Pair } from '../state/genesis.ts'
import { POSITION } from '../state/margin_rows.ts'
import { accountRow, agentRow, applicationRow, bytesOf, get, getF64, positionRow, sessionRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Ids of accounts that are kept: most rows name one of few. */
const KEPT = 1 << 14

interface KeptId {
  readonly account: number
  readonly sequence: number
  readonly id: string
}

/** A number that nothing has. */
export const unknown = (number: number): string => `#${number}`

/** As on the wire: Unix ms as RFC 3339 in UTC. */
export const timeText = (ms: number): string => new Date(ms).toISOString()

export class Names {
  readonly state: State
  readonly #ids: (KeptId | undefined)[] = []

  constructor(state: State) {
    this.state = state
  }

  pair(index: number): Pair | undefined {
    return this.state.genesis.pairs[index]
  }

  /** Index of the pair of the position in this row that `openedSequence` opened; -1: no such position is open. */
  pairOfPosition(row: number, openedSequence: number): number {
    const { state } = this
    if (row < 0 || row >= state.scalars[SCALAR.POSITIONS_USED]!) return -1
    const position = positionRow(state, row)
    return getF64(state, position, POSITION.OPENED_SEQUENCE) === openedSequence ? get(state, position, POSITION.PAIR) : -1
  }

  asset(index: number): Asset | undefined {
    return this.state.genesis.assets[index]
  }

  hasAccount(account: number): boolean {
    return account >= 0 && account < this.state.scalars[SCALAR.ACCOUNTS]!
  }

  /** The sequence that made the account that has this row now. */
  madeAt(account: number): number {
    return getF64(this.state, accountRow(this.state, account), ACCOUNT.CREATED_SEQUENCE)
  }

  /** -1: nobody. */
  user(account: number): string | null {
    if (!this.hasAccount(account)) return account === -1 ? null : unknown(account)
    const sequence = this.madeAt(account)
    const kept = this.#ids[account % KEPT]
    if (kept?.account === account && kept.sequence === sequence) return kept.id
    const id = userId(sequence, account)
    this.#ids[account % KEPT] = { account, sequence, id }
    return id
  }

  /** 0x and 40 lower-case hex digits. */
  wallet(account: number): string {
    const bytes = bytesOf(this.state, accountRow(this.state, account), ACCOUNT.ADDRESS, 20)
    return `0x${Buffer.from(bytes).toString('hex')}`
  }

  /** -1: none. */
  application(row: number): string | null {
    const { state } = this
    if (row < 0 || row >= state.scalars[SCALAR.APPLICATIONS]!) return row === -1 ? null : unknown(row)
    const sequence = getF64(state, applicationRow(state, row), APPLICATION.CREATED_SEQUENCE)
    return state.genesis.applications[row]?.id ?? applicationId(sequence, row)
  }

  /** The agent that has this row now; -1: none. */
  agent(row: number): string | null {
    const { state } = this
    if (row < 0 || row >= state.scalars[SCALAR.AGENTS_USED]!) return row === -1 ? null : unknown(row)
    return agentId(getF64(state, agentRow(state, row), AGENT.CREATED_SEQUENCE), row)
  }

  session(session: number, generation: number): string | null {
    return session < 0 ? null : formatId(IdKind.SESSION, generation >>> 0, session)
  }

  /** The account and agent of the session that signed; -1: none, or the row is another session's by now. */
  signer(session: number, generation: number): { account: number; agent: number } {
    const { state } = this
    if (session < 0 || session >= state.scalars[SCALAR.SESSIONS_USED]!) return NOT_SIGNED
    const row = sessionRow(state, session)
    if (get(state, row, SESSION.GENERATION) >>> 0 !== generation >>> 0) return NOT_SIGNED
    return { account: get(state, row, SESSION.ACCOUNT), agent: Math.max(-1, get(state, row, SESSION.AGENT) - 1) }
  }
}

const NOT_SIGNED = { account: -1, agent: -1 }
