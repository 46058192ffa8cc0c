/**
 * Money in and out: clients withdraw, the operator sets terms, approves or cancels, stops and allows again, gives what stands in suspense
 * to who asks; the chain beside the exchange (vault_chain.ts) pays, lets authorisations run out and brings deposits.
 *
 * What must be true, command by command: a withdrawal is paid or given back, never both and never twice; a deposit is credited once; what
 * an account has locked and what comes back to it is what the events say.
 */
import { CREDIT, CreditSource, DEPOSIT, EventType, RESULT, WITHDRAWAL } from '../../../core/layout/event.ts'
import { CommandType, Flag } from '../../../core/layout/command.ts'
import { decode, type Decoded } from '../../../core/layout/table.ts'
import { WITHDRAWAL_STATUS_NAMES, WithdrawalStatus } from '../../../core/layout/vault.ts'
import { BALANCE, SCALAR } from '../../../core/state/columns.ts'
import { SUSPENSE, SUSPENSE_WORDS, VAULT } from '../../../core/state/vault_rows.ts'
import { balanceRow, getI64 } from '../../../core/state/rows.ts'
import { encodeWithdrawal } from '../../../gateway/bridge/encode.ts'
import type { Asker, Draft } from '../margin_requests.ts'
import { rowsOf } from '../vault_chain.ts'
import { Violation } from '../violation.ts'
import { eventsOf, named, pick, resultOf, type Desk, type Done, type Program, type ProgramAudit } from './program.ts'

const { PENDING, SIGNED, SUBMITTED, CONFIRMED, FAILED, EXPIRED, CANCELLED } = WithdrawalStatus
const GIVEN_BACK: readonly number[] = [FAILED, EXPIRED, CANCELLED]

function request({ random, state, account, key }: Asker): Draft | null {
  const asset = random.below(3)
  const available = getI64(state, balanceRow(state, account, asset), BALANCE.AVAILABLE)
  const amount = pick(random, [available / 20n, available / 50n, available / 3n, 500n, 1n, available + 1n]) || 1n
  const destination = `0x${String(random.below(4) + 1).padStart(40, '7')}`
  const terms = { asset, amount, destination, key: random.below(4) === 0 ? '' : key() }
  return {
    type: CommandType.INITIATE_WITHDRAWAL, key: terms.key,
    send: (engine, at, correlation, caller) => encodeWithdrawal(engine, at, correlation, caller, terms),
  }
}

function operate(desk: Desk): readonly [CommandType, Decoded] | null {
  const { random, state } = desk
  const dice = random.below(20)
  if (dice < 2) {
    const amounts = (...of: bigint[]): bigint => pick(random, of)
    return [CommandType.SET_WITHDRAWAL_TERMS, {
      asset: random.below(3), minimum: amounts(-1n, 1n, 40n), userDaily: amounts(-1n, 0n, 0n, 1_000_000n), totalDaily: amounts(-1n, 0n, 0n),
      approvalAbove: amounts(-1n, 0n, 4000n, 100_000n),
    }]
  }
  if (dice < 4) return [CommandType.STOP_WITHDRAWALS, { cause: state.vault[VAULT.STOPPED] === 0 && random.below(3) === 0 ? 1 : 0 }]
  return dice < 12 ? review(desk) : dice < 16 ? assign(desk) : settle(desk)
}

/** One that waits for its approval; or any that nobody can have an authorisation of. */
function review({ random, state, authorised }: Desk): readonly [CommandType, Decoded] | null {
  const waiting = rowsOf(state).filter(({ status, sequence }) => status === PENDING && !authorised(sequence))
  if (waiting.length === 0) return null
  const { row, sequence, needsApproval } = pick(random, waiting)
  const approve = needsApproval && random.below(4) > 0 ? 1 : 0
  return approve === 0 && random.below(3) > 0 ? null : [CommandType.REVIEW_WITHDRAWAL, { row, withdrawalSequence: sequence, approve }]
}

function assign({ random, state, account }: Desk): readonly [CommandType, Decoded] | null {
  const used = Array.from({ length: state.scalars[SCALAR.SUSPENSE_USED]! }, (_, row) => row)
  const rows = used.filter((row) => state.suspenseF64[(row * SUSPENSE_WORDS + SUSPENSE.SEQUENCE) >>> 1] !== 0)
  const owner = named(state, account(random.below(4)))
  if (rows.length === 0 || owner === null) return null
  const row = pick(random, rows)
  return [CommandType.ASSIGN_SUSPENSE, {
    row, suspenseSequence: state.suspenseF64[(row * SUSPENSE_WORDS + SUSPENSE.SEQUENCE) >>> 1]!, ...owner,
  }]
}

function settle({ random, state }: Desk): readonly [CommandType, Decoded] | null {
  const [batch, confirmed] = [VAULT.BATCH, VAULT.CONFIRMED].map((word) => state.vaultF64[word >>> 1]!) as [number, number]
  if (random.below(2) === 0) return [CommandType.OPEN_SETTLEMENT, { batch: batch + 1 }]
  return confirmed === batch ? null : [CommandType.CONFIRM_SETTLEMENT, { batch: confirmed + 1, block: confirmed + 10, txHash: '77' }]
}

/** What became of one. */
interface Known { readonly amount: bigint; readonly asset: number; readonly account: number; status: number }

class VaultAudit implements ProgramAudit {
  readonly #known = new Map<number, Known>()
  readonly #deposits = new Set<string>()
  /** Atoms in suspense, by row. */
  readonly #suspended = new Map<number, bigint>()
  /** Last batch of settlement opened, and confirmed; through which sequence. */
  #batch = 0
  #confirmed = 0
  #through = 0

  see({ type, command, events, met }: Done): void {
    for (const base of eventsOf(events, EventType.WITHDRAWAL)) this.#withdrawal(decode(WITHDRAWAL, events, base), met)
    const credits = [...eventsOf(events, EventType.CREDIT)].map((base) => decode(CREDIT, events, base))
      .filter(({ source }) => source === CreditSource.DEPOSIT)
    const deposits = [...eventsOf(events, EventType.DEPOSIT)].map((base) => decode(DEPOSIT, events, base))
    for (const deposit of deposits) this.#deposit(type, deposit, credits[0], met)
    if (deposits.length < credits.length) throw new Violation('a deposit is credited that nobody brought')
    const result = decode(RESULT, events, resultOf(events))
    if (result['code'] !== 0) return
    if (type === CommandType.INITIATE_WITHDRAWAL && (Number(result['flags']) & Flag.REPEATED) !== 0) met('withdrawal made once for a key')
    if (type === CommandType.CREDIT_DEPOSIT && result['detail2'] === 1) met('deposit taken once')
    if (type === CommandType.OPEN_SETTLEMENT || type === CommandType.CONFIRM_SETTLEMENT) this.#settlement(type, command, result, met)
  }

  #withdrawal(event: Decoded, met: Done['met']): void {
    const [sequence, status, before] = ['withdrawalSequence', 'status', 'before'].map((name) => Number(event[name])) as
      [number, number, number]
    met(`withdrawal ${WITHDRAWAL_STATUS_NAMES[status]!}`)
    const [amount, asset, account] = [BigInt(event['amount']!), Number(event['asset']), Number(event['account'])]
    const known = this.#known.get(sequence)
    if (before === 0) {
      if (known !== undefined || sequence !== event['sequence']) throw new Violation(`withdrawal ${sequence} is made twice`)
      this.#known.set(sequence, { amount, asset, account, status })
      return
    }
    if (known === undefined || known.amount !== amount || known.asset !== asset || known.account !== account) {
      throw new Violation(`withdrawal ${sequence} is another than the one that was made`)
    }
    if (known.status !== before) throw new Violation(`withdrawal ${sequence} was ${known.status}, not ${before}`)
    const isOver = known.status === CONFIRMED || GIVEN_BACK.includes(known.status)
    if (isOver) throw new Violation(`withdrawal ${sequence} is over as ${known.status} and becomes ${status}`)
    if (status === CONFIRMED && before !== SIGNED && before !== SUBMITTED) {
      throw new Violation(`withdrawal ${sequence} is paid and never signed`)
    }
    known.status = status
  }

  #deposit(type: number, event: Decoded, credit: Decoded | undefined, met: Done['met']): void {
    const [account, row, amount] = [Number(event['account']), Number(event['suspense']), BigInt(event['amount']!)]
    if (account >= 0 && (credit?.['account'] !== account || credit['amount'] !== amount)) {
      throw new Violation(`a deposit of ${amount} atoms is credited with ${String(credit?.['amount'])}`)
    }
    if (type === CommandType.CREDIT_DEPOSIT) {
      const id = `${String(event['chain'])} ${String(event['txHash'])} ${String(event['logIndex'])}`
      if (this.#deposits.has(id)) throw new Violation(`a deposit is taken twice: ${id}`)
      this.#deposits.add(id)
      met(account >= 0 ? 'deposit credited' : row >= 0 ? 'deposit in suspense' : 'deposit of less than an atom')
      if (row >= 0) this.#suspended.set(row, (this.#suspended.get(row) ?? 0n) + amount)
      return
    }
    met('suspense assigned')
    const known = this.#suspended.get(row)
    if (known !== amount) throw new Violation(`row ${row} of suspense has ${String(known)}, not ${amount}`)
    this.#suspended.delete(row)
  }

  #settlement(type: number, { batch }: Decoded, result: Decoded, met: Done['met']): void {
    const opens = type === CommandType.OPEN_SETTLEMENT
    const expected = 1 + (opens ? this.#batch : this.#confirmed)
    if (batch !== expected) throw new Violation(`batch ${String(batch)} of settlement, ${expected} is next`)
    met(opens ? 'settlement opened' : 'settlement confirmed')
    if (!opens) this.#confirmed = expected
    if (!opens) return
    const through = Number(result['orderSequence'])
    if (through <= this.#through) throw new Violation(`batch ${expected} ends at ${through}, the one before at ${this.#through}`)
    this.#batch = expected
    this.#through = through
  }
}

export const VAULT_PROGRAM: Program = {
  name: 'vault', weights: [6, 15], needsPerps: false, operates: 60, request, operate, audit: () => new VaultAudit(),
}
