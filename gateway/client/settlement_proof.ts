/**
 * Verifying what the exchange settled on the chain, without trusting it: that the bytes of a trade or a balance lead to a root, that the
 * vault contract has that root, and that the bytes say what one's own records say. In a browser or in Node.
 *
 *   verifyBalance(proof)                                       what the leaf says: it stands under the root of the proof
 *   await verifyPosted(proof, 'balance', { rpcUrl, vault })    and that root is the one that the vault has
 *
 * The address of the vault and the node should come from somewhere else than the exchange that is verified.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { readBalanceLeaf, readTradeLeaf, type BalanceLeaf, type TradeLeaf } from '../../core/settlement/leaves.ts'
import { isProved } from '../../core/settlement/proof.ts'

export type { BalanceLeaf, TradeLeaf }

/** What the exchange tells of a trade or a balance in a batch of settlement: bytes are 0x and hex digits. */
export interface InclusionProof {
  readonly batch: number
  readonly leaf: string
  readonly index: number
  readonly count: number
  readonly proof: readonly string[]
  readonly root: string
}

/** Something is not as the exchange says; the message says what. */
export class ProofError extends Error {
  override name = 'ProofError'
}

function bytesOf(text: string, what: string): Uint8Array {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(text)) throw new ProofError(`${what} is no hex text behind 0x`)
  return hexToBytes(text.slice(2).toLowerCase())
}

function provedLeaf({ leaf, index, count, proof, root }: InclusionProof): Uint8Array {
  const bytes = bytesOf(leaf, 'the leaf')
  const siblings = proof.map((hash) => bytesOf(hash, 'a hash of the proof'))
  const isGood = isProved(sha256, bytesOf(root, 'the root'), bytes, index, count, siblings)
  if (!isGood) throw new ProofError('the proof does not lead from the leaf to the root')
  return bytes
}

function compare<T extends object>(found: T, expected: Partial<T>): T {
  const wrong = Object.entries(expected).filter(([name, value]) => value !== undefined && found[name as keyof T] !== value)
  const said = wrong.map(([name, value]) => `${name} is ${String(found[name as keyof T])}, not ${String(value)}`)
  if (said.length > 0) throw new ProofError(`the leaf says something else: ${said.join(', ')}`)
  return found
}

/**
 * The trade that is proved. `expected`: what it must say, as far as one knows it; {@link expectedTrade} makes it of a trade's record.
 * Throws {@link ProofError}.
 */
export function verifyTrade(proof: InclusionProof, expected: Partial<TradeLeaf> = {}): TradeLeaf {
  const trade = readTradeLeaf(provedLeaf(proof))
  if (trade === null) throw new ProofError('the leaf is no trade')
  return compare(trade, expected)
}

/** The balance that is proved; as {@link verifyTrade}. It is that of the batch's end: what happened since is not in it. */
export function verifyBalance(proof: InclusionProof, expected: Partial<BalanceLeaf> = {}): BalanceLeaf {
  const balance = readBalanceLeaf(provedLeaf(proof))
  if (balance === null) throw new ProofError('the leaf is no balance')
  if (balance.batch !== proof.batch) throw new ProofError(`the leaf is of batch ${balance.batch}, not ${proof.batch}`)
  return compare(balance, expected)
}

/** Atoms as a decimal text of an asset whose amounts have so many digits (`amountDecimals`). */
export function amountOf(atoms: bigint, digits: number): string {
  const text = (atoms < 0n ? -atoms : atoms).toString().padStart(digits + 1, '0')
  const fraction = digits === 0 ? '' : text.slice(text.length - digits).replace(/0+$/, '')
  return `${atoms < 0n ? '-' : ''}${text.slice(0, text.length - digits)}${fraction === '' ? '' : `.${fraction}`}`
}

/** A decimal text as a whole number of 10^-digits. */
function unitsOf(text: string, digits: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  if (!/^[0-9]+$/.test(whole) || !/^[0-9]*$/.test(fraction) || fraction.length > digits) throw new ProofError(`${text} is no such amount`)
  return BigInt(whole + fraction.padEnd(digits, '0'))
}

const digitsOf = (text: string): number => text.split('.')[1]?.length ?? 0

/** How often a step goes into a value, both decimal texts. */
function stepsOf(value: string, step: string): number {
  const digits = Math.max(digitsOf(value), digitsOf(step))
  const [units, size] = [unitsOf(value, digits), unitsOf(step, digits)]
  if (size === 0n || units % size !== 0n) throw new ProofError(`${value} is no multiple of ${step}`)
  return Number(units / size)
}

/** Of a trade's record, what its leaf must say. */
export interface TradeRecord {
  readonly id: string
  readonly tradingPairId: string
  readonly price: string
  readonly quantity: string
  readonly quoteQuantity: string
  readonly executedAt: string
}

/** Of its pair. */
export interface PairSteps {
  readonly tickSize: string
  readonly lotSize: string
  readonly quoteAmountDecimals: number
}

/**
 * What the leaf of a trade says, by its record and its pair's. An id has the sequence in its first 12 hex digits and the number of the fill
 * in 30 bits behind them (as the exchange forms them). Who took and who made is known of one's own user id alone: add `taker` or `maker`.
 */
export function expectedTrade(trade: TradeRecord, pair: PairSteps): Partial<TradeLeaf> {
  const digits = trade.id.replaceAll('-', '')
  return {
    sequence: Number.parseInt(digits.slice(0, 12), 16),
    index: Number.parseInt(digits.slice(16, 24), 16) & 0x3fffffff,
    pair: trade.tradingPairId,
    price: stepsOf(trade.price, pair.tickSize),
    lots: stepsOf(trade.quantity, pair.lotSize),
    quote: unitsOf(trade.quoteQuantity, pair.quoteAmountDecimals),
    time: Date.parse(trade.executedAt),
  }
}

/** Where the vault contract is, and a node of its chain. */
export interface VaultPlace {
  readonly rpcUrl: string
  readonly vault: string
  /** As JSON-RPC names it: `latest` unless it is given, `finalized` on a chain that has it. */
  readonly block?: string
  readonly fetch?: typeof fetch
}

/** A batch as the vault has it. */
export interface PostedBatch {
  readonly through: number
  readonly trades: number
  readonly tradesRoot: string
  readonly balances: number
  readonly balancesRoot: string
  /** Unix seconds. */
  readonly postedAt: number
}

/** First bytes of keccak256("batches(uint64)"). */
const BATCHES = '0x8232e389'
const WORD = 64
/** A node that says nothing, ms. */
const TIMEOUT_MS = 15_000

/** What the vault has of a batch; `null`: it was not posted. Throws {@link ProofError} when the node gives no answer that makes sense. */
export async function postedBatch(batch: number, { rpcUrl, vault, block = 'latest', ...place }: VaultPlace): Promise<PostedBatch | null> {
  const data = `${BATCHES}${BigInt(batch).toString(16).padStart(WORD, '0')}`
  const response = await (place.fetch ?? fetch)(rpcUrl, {
    method: 'POST', headers: { 'content-type': 'application/json' }, signal: AbortSignal.timeout(TIMEOUT_MS),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: vault, data }, block] }),
  })
  const answer = await response.json() as { result?: unknown; error?: { message?: unknown } }
  const { result } = answer
  if (typeof result !== 'string') throw new ProofError(`the node refused: ${String(answer.error?.message ?? response.status)}`)
  if (!/^0x[0-9a-fA-F]{384}$/.test(result)) throw new ProofError('the node has no vault at that address')
  const word = (at: number): string => result.slice(2 + at * WORD, 2 + (at + 1) * WORD).toLowerCase()
  const number = (at: number): number => Number(BigInt(`0x${word(at)}`))
  if (number(5) === 0) return null
  return {
    through: number(0), trades: number(1), tradesRoot: `0x${word(2)}`, balances: number(3), balancesRoot: `0x${word(4)}`,
    postedAt: number(5),
  }
}

/**
 * Verifies a proof and that the vault has its root, of as many leaves: the batch as the vault has it. Throws {@link ProofError} when
 * anything is otherwise, or the batch was not posted.
 */
export async function verifyPosted(proof: InclusionProof, kind: 'trade' | 'balance', place: VaultPlace): Promise<PostedBatch> {
  const trade = kind === 'trade' ? verifyTrade(proof) : null
  if (kind === 'balance') verifyBalance(proof)
  const posted = await postedBatch(proof.batch, place)
  if (posted === null) throw new ProofError(`the vault has no batch ${proof.batch}`)
  const [root, count] = kind === 'trade' ? [posted.tradesRoot, posted.trades] : [posted.balancesRoot, posted.balances]
  if (root !== `0x${bytesToHex(bytesOf(proof.root, 'the root'))}`) throw new ProofError(`the vault has the root ${root}, not ${proof.root}`)
  if (count !== proof.count) throw new ProofError(`the vault has ${count} leaves, not ${proof.count}`)
  if (trade !== null && trade.sequence > posted.through) throw new ProofError('the trade is newer than its batch')
  return posted
}
