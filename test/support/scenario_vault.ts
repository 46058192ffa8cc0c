/**
 * Steps of money in and out, and of settlement, in scenarios (scenario.ts):
 *
 *   'w: ann withdraws 2 BTC [to=NAME|nobody] [key=K]'            -> 'PENDING' | 'PENDING, needs approval'      "w:" names it
 *   'vault w signed [in=SECONDS]|submitted [tx=N]|confirmed [tx=N]|expired|failed [block=N]'      -> its status
 *   'operator approves w' | 'operator refuses w'
 *   'terms BTC [min=Q] [user=Q] [all=Q] [approval=Q]'            a day of one user, and of all
 *   'stop operator|solvency|none'                                -> 'OPERATOR, was NONE'
 *   'chain NUMBER at BLOCK [id=N] [back]'                        back: a rewind
 *   's: deposit 2 BTC of ann at BLOCK.LOG [tx=N] [chain=N] [rest=N] [application=N]'
 *                                                  -> 'credited' | 'suspense ROW' | 'repeated' | 'nothing'; an asset '?' is unknown
 *   'assign s to ann' | 'batch NUMBER opens|confirms' | 'minted QTY ASSET [tx=N] [through=MS]'
 *
 * What events tell of them is in `told`, oldest first.
 */
import { CommandType, Option } from '../../core/layout/command.ts'
import { CreditSource, CREDIT, DEPOSIT, EventType, SETTLEMENT, WITHDRAWAL } from '../../core/layout/event.ts'
import { decode, type Decoded, type Views } from '../../core/layout/table.ts'
import { SettlementStatus, WITHDRAWAL_STATUS_NAMES, WITHDRAWAL_STOP_NAMES, WithdrawalFlag } from '../../core/layout/vault.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import type { Asset } from '../../core/state/genesis.ts'

interface VaultStep {
  readonly type: CommandType
  readonly values: Decoded
  /** Who signs; null: the operator. */
  readonly signer: string | null
}

export interface VaultNames {
  asset(symbol: string): Asset | undefined
  made(name: string): { account: number; createdSequence: number }
  nameOf(account: number): string
  assetAt(index: number): Asset | undefined
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
export const vaultHash = (tx: string): string => hex(`tx ${tx}`, 32)
const status = (word: string): number => (WITHDRAWAL_STATUS_NAMES as readonly string[]).indexOf(word.toUpperCase())
const SECOND = 1000

export class VaultSteps {
  /** What events told. */
  readonly told: string[] = []
  private readonly names: VaultNames
  private readonly withdrawals = new Map<string, { row: number; withdrawalSequence: number }>()
  private readonly suspense = new Map<string, { row: number; suspenseSequence: number }>()

  constructor(names: VaultNames) {
    this.names = names
  }

  /** The command of a step at `time`; `null`: it is about something else. */
  step(line: string, time: number): VaultStep | null {
    const [who, verb, ...words] = line.split(' ') as [string, string, ...string[]]
    const given = (name: string): string | undefined => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
    const mine = (type: CommandType, values: Decoded): VaultStep => ({ type, values: { session: -1, ...values }, signer: null })
    if (verb === 'withdraws') return this.initiate(who, words, given)
    if (who === 'vault') {
      const deadline = Math.floor(time / SECOND) * SECOND + Number(given('in') ?? 60) * SECOND
      const txHash = given('tx') === undefined ? '' : vaultHash(given('tx')!)
      const to = { to: status(words[0]!), deadline, txHash, block: Number(given('block') ?? 0) }
      return mine(CommandType.ADVANCE_WITHDRAWAL, { ...this.withdrawal(verb), ...to })
    }
    if (who === 'operator' && (verb === 'approves' || verb === 'refuses')) {
      return mine(CommandType.REVIEW_WITHDRAWAL, { ...this.withdrawal(words[0]!), approve: verb === 'approves' ? 1 : 0 })
    }
    if (who === 'terms') return this.terms(verb, given)
    if (who === 'stop') {
      const cause = (WITHDRAWAL_STOP_NAMES as readonly string[]).indexOf(verb.toUpperCase())
      return mine(CommandType.STOP_WITHDRAWALS, { cause })
    }
    if (who === 'chain') {
      const place = { chain: Number(verb), chainId: Number(given('id') ?? Number(verb) + 1), block: Number(words[1]) }
      const block = { rewind: words.includes('back') ? 1 : 0, blockTime: time, blockHash: hex(`block ${words[1]}`, 32) }
      return mine(CommandType.ADVANCE_CHAIN, { ...place, ...block })
    }
    if (who === 'deposit') return this.deposit([verb, ...words], given)
    if (who === 'assign') {
      const row = this.suspense.get(verb) ?? { row: 0, suspenseSequence: 1e9 }
      return mine(CommandType.ASSIGN_SUSPENSE, { ...row, ...this.names.made(words[1]!) })
    }
    return this.settlement(who, verb, words, given, time)
  }

  private settlement(
    who: string, verb: string, words: string[], given: (name: string) => string | undefined, time: number,
  ): VaultStep | null {
    if (who === 'minted') {
      const { index, scale } = this.names.asset(words[0]!)!
      const values = { session: -1, asset: index, amount: parseDecimal(verb, scale)!, txHash: vaultHash(given('tx') ?? '1') }
      return { type: CommandType.FAUCET_MINTED, values: { ...values, through: Number(given('through') ?? time) }, signer: null }
    }
    if (who !== 'batch') return null
    const roots = { block: 7, tradesRoot: '11'.repeat(32), balancesRoot: '22'.repeat(32), txHash: vaultHash(verb) }
    const values = { session: -1, batch: Number(verb), ...(words[0] === 'opens' ? {} : roots) }
    return { type: words[0] === 'opens' ? CommandType.OPEN_SETTLEMENT : CommandType.CONFIRM_SETTLEMENT, values, signer: null }
  }

  private withdrawal(name: string): Decoded {
    return { ...(this.withdrawals.get(name) ?? { row: 0, withdrawalSequence: 1e9 }) }
  }

  private initiate(who: string, [quantity, symbol]: string[], given: (name: string) => string | undefined): VaultStep {
    const asset = this.names.asset(symbol!)
    const to = given('to') ?? who
    const key = given('key')
    const payload = hex(`${quantity} ${symbol} ${to}`, 16)
    const keyed: Decoded = key === undefined ? {} : { options: Option.KEYED, key: hex(key, 16), payload }
    const destination = to === 'nobody' ? '' : hex(`to ${to}`, 20)
    const values = { asset: asset?.index ?? 99, amount: parseDecimal(quantity!, asset?.scale ?? 0)!, destination, ...keyed }
    return { type: CommandType.INITIATE_WITHDRAWAL, values, signer: who }
  }

  private terms(symbol: string, given: (name: string) => string | undefined): VaultStep {
    const asset = this.names.asset(symbol)
    const atoms = (name: string): bigint => (given(name) === undefined ? -1n : parseDecimal(given(name)!, asset?.scale ?? 0)!)
    const values = { minimum: atoms('min'), userDaily: atoms('user'), totalDaily: atoms('all'), approvalAbove: atoms('approval') }
    return { type: CommandType.SET_WITHDRAWAL_TERMS, values: { session: -1, asset: asset?.index ?? 99, ...values }, signer: null }
  }

  private deposit([quantity, symbol, , who, , place]: string[], given: (name: string) => string | undefined): VaultStep {
    const asset = this.names.asset(symbol!)
    const [block, logIndex] = place!.split('.').map(Number) as [number, number]
    const values = {
      session: -1, chain: Number(given('chain') ?? 0), block, logIndex, asset: asset?.index ?? -1,
      application: Number(given('application') ?? 0), amount: parseDecimal(quantity!, asset?.scale ?? 0)!,
      remainder: BigInt(given('rest') ?? 0), txHash: vaultHash(given('tx') ?? place!), beneficiary: hex(who!, 20), token: hex(symbol!, 20),
    }
    return { type: CommandType.CREDIT_DEPOSIT, values, signer: null }
  }

  /** How the command of a step that was done ended, which is called `name` from then on. */
  outcome(name: string | undefined, type: CommandType, result: Decoded): string {
    const [detail, detail2] = [Number(result['detail']), Number(result['detail2'])]
    if (type <= CommandType.REVIEW_WITHDRAWAL) {
      const sequence = Number(result['originalSequence'])
      if (name !== undefined) this.withdrawals.set(name, { row: detail, withdrawalSequence: sequence })
      const approval = (Number(result['trades']) & WithdrawalFlag.NEEDS_APPROVAL) !== 0 ? ', needs approval' : ''
      return `${WITHDRAWAL_STATUS_NAMES[detail2]!}${approval}${(Number(result['flags']) & 0x8000) !== 0 ? ', repeated' : ''}`
    }
    if (type === CommandType.STOP_WITHDRAWALS) return `${WITHDRAWAL_STOP_NAMES[detail]!}, was ${WITHDRAWAL_STOP_NAMES[detail2]!}`
    if (type === CommandType.CREDIT_DEPOSIT) {
      if (detail2 === 1) return 'repeated'
      if (name !== undefined && detail >= 0) this.suspense.set(name, { row: detail, suspenseSequence: Number(result['sequence']) })
      return detail >= 0 ? `suspense ${detail}` : Number(result['account']) >= 0 ? 'credited' : 'nothing'
    }
    if (type === CommandType.OPEN_SETTLEMENT || type === CommandType.CONFIRM_SETTLEMENT) {
      return `batch ${result['originalSequence']} through ${result['orderSequence']}, ${result['expiresAt']} fills`
    }
    return 'done'
  }

  /** Takes notice of the event at word `base`. */
  hear(kind: number, said: Views, base: number): void {
    if (kind === EventType.WITHDRAWAL) this.told.push(this.withdrawalText(decode(WITHDRAWAL, said, base)))
    else if (kind === EventType.DEPOSIT) this.told.push(this.depositText(decode(DEPOSIT, said, base)))
    else if (kind === EventType.SETTLEMENT) {
      const { status: now, batch, from, through, fills, block, txHash } = decode(SETTLEMENT, said, base)
      const isOpen = now === SettlementStatus.OPENED
      const whose = txHash === vaultHash(String(batch)) ? 'its' : 'another'
      const settled = isOpen ? 'open' : `confirmed by ${whose} transaction in block ${block}`
      this.told.push(`batch ${batch} from ${from} through ${through}, ${fills} fills: ${settled}`)
    } else if (kind === EventType.CREDIT) {
      const credit = decode(CREDIT, said, base)
      const owner = this.names.nameOf(Number(credit['account']))
      if (credit['source'] === CreditSource.DEPOSIT) this.told.push(`credit ${this.amount(credit)} ${owner}`)
    }
  }

  private amount({ amount, asset }: Decoded): string {
    const known = this.names.assetAt(Number(asset))
    return known === undefined ? `${amount} ?` : `${formatDecimal(amount as bigint, known.scale)} ${known.symbol}`
  }

  private withdrawalText(event: Decoded): string {
    const { account, before, status: now, flags, deadline, destination, txHash } = event
    const [from, to] = [WITHDRAWAL_STATUS_NAMES[Number(before)]!, WITHDRAWAL_STATUS_NAMES[Number(now)]!]
    const target = Buffer.from(String(destination), 'hex').toString().replaceAll('\0', '')
    const path = from === '' ? to : `${from} > ${to}`
    const waits = flags === 0 ? '' : ' needs approval'
    const more = `${deadline === 0 ? '' : ` until ${deadline}`}${/[1-9]/.test(String(txHash)) ? ' by tx' : ''}`
    return `${this.names.nameOf(Number(account))} ${this.amount(event)} ${target}: ${path}${waits}${more}`
  }

  private depositText(event: Decoded): string {
    const { account, chain, block, logIndex, suspense, remainder } = event
    const owner = Number(account) < 0 ? 'nobody' : this.names.nameOf(Number(account))
    const rest = remainder === 0n ? '' : `, rest ${remainder}`
    const waits = Number(suspense) < 0 ? '' : `, suspense ${suspense}`
    return `deposit ${this.amount(event)} ${owner} at ${chain}.${block}.${logIndex}${waits}${rest}`
  }
}
