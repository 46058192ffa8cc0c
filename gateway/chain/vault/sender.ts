/**
 * Sends the transactions of one account on one chain, one after the other, each with the next nonce that the chain has not seen: what an
 * earlier run left waiting is replaced. A transaction that no block takes is sent again with a higher fee, as far as the bound on fees
 * goes; while gas costs more than that, nothing is sent. One that the node has forgotten, as after a reorganisation, is sent again as it
 * was.
 */
import { oneByOne } from '../../one_by_one.ts'
import { ChainUnavailable } from '../client.ts'
import { SendRefused, type ChainNode, type Fees, type Hex, type NodeReceipt, type Sender, type Signer } from './types.ts'

/** A replacement pays so much more at least, in eighths: nodes ask for 10 %. */
const BUMP_EIGHTHS = 10n
/** Room beyond the estimate, in quarters, and gas that is always added. */
const GAS_QUARTERS = 5n
const GAS_MORE = 5_000n
/** Replacements, and refusals of the fee, in one call. */
const TRIES = 12
/** Looks in a row that do not find a transaction at the node, until it is taken to be forgotten: a node may be several machines. */
const LOOKS_WITHOUT = 5
const UNDERPRICED = /underpriced|fee too low|less than block base fee|max fee per gas less/i
const NONCE = /nonce too low|nonce is too low|invalid nonce|old nonce/i

export interface SenderOptions {
  readonly node: ChainNode
  readonly signer: Signer
  readonly address: Hex
  /** Most wei for a unit of gas. */
  readonly feePerGasMax: bigint
  /** After how long without a block a transaction is replaced, and how long one call waits at most, ms. */
  readonly stuckMs: number
  readonly waitMs: number
  /** Between two looks, ms. */
  readonly pollMs: number
}

/** What one call has sent so far. */
interface Sent {
  readonly nonce: number
  /** The newest last. */
  readonly signed: { readonly raw: Hex; readonly hash: Hex }[]
  fees: Fees
}

export function createSender(options: SenderOptions): Sender {
  const { node, address } = options
  const inTurn = oneByOne()

  async function run(to: Hex, data: Hex): Promise<NodeReceipt> {
    const end = performance.now() + options.waitMs
    const needed = await node.estimateGas(address, to, data)
    if (needed === null) throw new SendRefused('the contract would revert')
    const gas = data === '0x' ? needed : (needed * GAS_QUARTERS) / 4n + GAS_MORE
    let sent: Sent | null = null
    for (let tries = 0; tries < TRIES && performance.now() < end; tries++) {
      sent = await submit(options, sent, to, data, gas)
      const receipt = await taken(options, sent, Math.min(end, performance.now() + options.stuckMs))
      if (receipt === 'elsewhere') sent = null
      else if (receipt !== null) return receipt
    }
    throw new ChainUnavailable('no block took the transaction in time')
  }

  return {
    address,
    send: (to, data) => inTurn(() => run(to, data)),
    tick: () => inTurn(() => run(address, '0x')),
  }
}

/** Sends the transaction: for the first time, or in place of what is stuck. */
async function submit(
  { node, signer, address, feePerGasMax }: SenderOptions, before: Sent | null, to: Hex, data: Hex, gas: bigint,
): Promise<Sent> {
  const asked = await node.fees()
  if (before === null && leastOf(asked) > feePerGasMax) throw new ChainUnavailable('gas costs more than is allowed')
  const nonce = before?.nonce ?? (await node.nonce(address)).mined
  const sent: Sent = before ?? { nonce, signed: [], fees: bounded(asked, feePerGasMax) }
  if (before !== null) {
    const next = bounded(higher(before.fees, asked), feePerGasMax)
    // Already at the bound, or free: nothing can be done but wait.
    if (!isHigher(next, before.fees)) return sent
    sent.fees = next
  }
  for (let tries = 0; tries < TRIES; tries++) {
    const signed = await signer.sign({ chainId: node.chainId, nonce, to, data, gas, ...sent.fees })
    try {
      // Known before it is sent: what a lost answer says is seen in a block.
      sent.signed.push(signed)
      await node.send(signed.raw)
      return sent
    } catch (error) {
      if (!(error instanceof SendRefused)) throw error
      if (NONCE.test(error.message)) return sent
      if (!UNDERPRICED.test(error.message)) throw error
      const next = bounded(higher(sent.fees, asked), feePerGasMax)
      if (!isHigher(next, sent.fees)) throw new ChainUnavailable('gas costs more than is allowed')
      sent.fees = next
    }
  }
  throw new ChainUnavailable('no fee was high enough')
}

/** Waits for the block of one of these; `elsewhere`: another transaction had the nonce; `null`: none by `end`. */
async function taken(
  { node, address, pollMs }: SenderOptions, { nonce, signed }: Sent, end: number,
): Promise<NodeReceipt | 'elsewhere' | null> {
  const newest = signed.at(-1)!
  let looksWithout = 0
  for (let isTaken = false; ; ) {
    const { mined } = await node.nonce(address)
    // Newest first, and after the nonce: a block that came between is seen.
    for (const { hash } of signed.toReversed()) {
      const receipt = await node.receipt(hash)
      if (receipt !== null) return receipt
    }
    // A node that lags has the nonce and not yet the receipt; and one that reorganises may have it no more.
    if (mined > nonce && isTaken) return 'elsewhere'
    isTaken = mined > nonce
    if (performance.now() >= end && !isTaken) return null
    looksWithout = isTaken || (await node.knows(newest.hash)) ? 0 : looksWithout + 1
    if (looksWithout === LOOKS_WITHOUT) {
      looksWithout = 0
      await sendAgain(node, newest.raw)
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

/** What the node has against it now, its replacement finds out. */
async function sendAgain(node: ChainNode, raw: Hex): Promise<void> {
  try {
    await node.send(raw)
  } catch (error) {
    if (!(error instanceof SendRefused)) throw error
  }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** What a unit of gas costs now: the most that is asked for has twice the fee of the block (node.ts). */
const leastOf = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees): bigint => (maxFeePerGas + maxPriorityFeePerGas) / 2n
const bounded = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees, most: bigint): Fees =>
  ({ maxFeePerGas: smaller(maxFeePerGas, most), maxPriorityFeePerGas: smaller(maxPriorityFeePerGas, most) })
const isHigher = (next: Fees, before: Fees): boolean =>
  next.maxFeePerGas > before.maxFeePerGas && next.maxPriorityFeePerGas >= before.maxPriorityFeePerGas

/** What replaces a transaction with these fees: more of both, and at least what is asked for now. */
const higher = (before: Fees, asked: Fees): Fees => ({
  maxFeePerGas: larger((before.maxFeePerGas * BUMP_EIGHTHS) / 8n + 1n, asked.maxFeePerGas),
  maxPriorityFeePerGas: larger((before.maxPriorityFeePerGas * BUMP_EIGHTHS) / 8n + 1n, asked.maxPriorityFeePerGas),
})
