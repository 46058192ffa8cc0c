/**
 * Promise: a transaction of the vault comes into a block, or it is said that it did not: stuck ones are replaced with a higher fee up to
 * the bound, forgotten ones are sent again, dear gas is waited out, lost answers and nonces that are taken confuse nobody, and nothing
 * that would revert is sent.
 */
import t from 'tap'
import { keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { ChainUnavailable } from '../../gateway/chain/client.ts'
import { createKeyHolder } from '../../gateway/chain/vault/key_holder.ts'
import { createSender, type SenderOptions } from '../../gateway/chain/vault/sender.ts'
import { SendRefused, type ChainNode, type Fees, type Hex, type NodeReceipt, type Signer } from '../../gateway/chain/vault/types.ts'

const HOLDER = createKeyHolder(`0x${'11'.repeat(32)}`)
const OWN = await HOLDER.address()
const TO: Hex = `0x${'a1'.repeat(20)}`
const GWEI = 10n ** 9n

interface Waiting extends Fees {
  readonly nonce: number
  readonly hash: Hex
}

/** A node whose pool takes what real ones take, and whose blocks come when `mine` says so for a transaction. */
class Pool {
  readonly sent: Waiting[] = []
  readonly receipts = new Map<Hex, NodeReceipt>()
  mined = 0
  asked: Fees = { maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: GWEI }
  estimate: bigint | null = 50_000n
  /** Whether a transaction that arrives goes into a block at once. */
  mine: (one: Waiting) => boolean = () => true
  /** Whether the node has a transaction that it took. */
  has: (one: Waiting) => boolean = () => true
  /** What a send ends with after it arrived, or before. */
  after: (count: number) => Error | null = () => null
  before: (one: Waiting, waiting: Waiting | undefined) => Error | null = () => null

  include({ hash, nonce }: Waiting, succeeded = true): void {
    this.mined = nonce + 1
    this.receipts.set(hash, { txHash: hash, block: 1, blockHash: hash, succeeded, from: OWN, to: TO, logs: [] })
  }

  readonly node = {
    chainId: 5,
    estimateGas: async () => this.estimate,
    fees: async () => this.asked,
    nonce: async () => ({ mined: this.mined, pending: this.mined }),
    receipt: async (hash: Hex) => this.receipts.get(hash) ?? null,
    knows: async (hash: Hex) => this.sent.some((one) => one.hash === hash && this.has(one)),
    send: async (raw: Hex) => {
      const { nonce = 0, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw as TransactionSerializedEIP1559)
      const one: Waiting = { nonce, maxFeePerGas, maxPriorityFeePerGas, hash: keccak256(raw) }
      if (nonce < this.mined) throw new SendRefused('nonce too low')
      const refused = this.before(one, this.sent.findLast((other) => other.nonce === nonce))
      if (refused !== null) throw refused
      this.sent.push(one)
      if (this.mine(one)) this.include(one)
      const failed = this.after(this.sent.length)
      if (failed !== null) throw failed
      return one.hash
    },
  } as Partial<ChainNode> as ChainNode
}

const signer = { sign: (transaction) => HOLDER.sign(transaction), address: HOLDER.address } as Partial<Signer> as Signer

const setUp = (more: Partial<SenderOptions> = {}) => {
  const pool = new Pool()
  const options = { node: pool.node, signer, address: OWN, feePerGasMax: 100n * GWEI, stuckMs: 20, waitMs: 20_000, pollMs: 1 }
  return { pool, sender: createSender({ ...options, ...more }) }
}
/** Nodes take a replacement only for a tenth more of both fees. */
const priced = (one: Waiting, waiting: Waiting | undefined): Error | null => {
  const tooLittle = (next: bigint, before: bigint): boolean => next * 10n < before * 11n
  const refused = waiting !== undefined
    && (tooLittle(one.maxFeePerGas, waiting.maxFeePerGas) || tooLittle(one.maxPriorityFeePerGas, waiting.maxPriorityFeePerGas))
  return refused ? new SendRefused('replacement transaction underpriced') : null
}

t.test('one after the other', async (t) => {
  const { pool, sender } = setUp()
  const receipts = await Promise.all([sender.send(TO, '0x01'), sender.send(TO, '0x02'), sender.tick()])
  t.same(pool.sent.map(({ nonce }) => nonce), [0, 1, 2])
  t.same(receipts.map(({ txHash }) => txHash), pool.sent.map(({ hash }) => hash))
  t.match(pool.sent[0], pool.asked)
})

t.test('a call that would revert is not sent; one that failed in its block is told', async (t) => {
  const { pool, sender } = setUp()
  pool.estimate = null
  await t.rejects(sender.send(TO, '0x01'), { name: 'SendRefused', message: 'the contract would revert' })
  t.equal(pool.sent.length, 0)
  pool.estimate = 50_000n
  pool.mine = (one) => {
    pool.include(one, false)
    return false
  }
  t.match(await sender.send(TO, '0x01'), { succeeded: false })
})

t.test('what is stuck is replaced with a higher fee', async (t) => {
  const { pool, sender } = setUp()
  pool.before = priced
  pool.mine = () => pool.sent.length === 4
  const receipt = await sender.send(TO, '0x01')
  t.equal(receipt.txHash, pool.sent[3]!.hash)
  t.same(pool.sent.map(({ nonce }) => nonce), [0, 0, 0, 0])
  const fees = pool.sent.map(({ maxFeePerGas }) => maxFeePerGas)
  t.ok(fees.every((fee, i) => i === 0 || fee >= (fees[i - 1]! * 11n) / 10n), fees.join(' '))
})

t.test('what the node forgot is sent again as it was, also when no higher fee is allowed', async (t) => {
  const { pool, sender } = setUp({ feePerGasMax: 3n * GWEI, stuckMs: 15_000 })
  pool.has = () => false
  pool.mine = () => pool.sent.length === 3
  const { txHash } = await sender.send(TO, '0x01')
  t.same(pool.sent.map(({ hash }) => hash), [txHash, txHash, txHash])
})

t.test('what a reorganisation took out of its block is sent again', async (t) => {
  const { pool, sender } = setUp({ stuckMs: 15_000 })
  pool.mine = () => pool.sent.length === 2
  pool.has = () => false
  let looks = 0
  const nonce = async (): Promise<{ mined: number; pending: number }> => {
    // At one look it has a block, whose receipt the node does not give yet.
    const mined = ++looks === 3 ? 1 : pool.mined
    return { mined, pending: mined }
  }
  Object.assign(pool.node, { nonce })
  t.equal((await sender.send(TO, '0x01')).txHash, pool.sent[1]!.hash)
  t.same(pool.sent.map((one) => one.nonce), [0, 0])
})

t.test('what the node has is waited for and not sent again', async (t) => {
  const { pool, sender } = setUp({ stuckMs: 15_000 })
  let looks = 0
  pool.mine = () => false
  pool.has = (one) => {
    // In every other look one of the machines behind the node does not have it yet.
    if (++looks === 40) pool.include(one)
    return looks % 5 === 0
  }
  await sender.send(TO, '0x01')
  t.equal(pool.sent.length, 1)
})

t.test('whichever of them comes into a block counts', async (t) => {
  const { pool, sender } = setUp()
  pool.mine = () => {
    if (pool.sent.length === 3) pool.include(pool.sent[0]!)
    return false
  }
  t.equal((await sender.send(TO, '0x01')).txHash, pool.sent[0]!.hash)
})

t.test('the bound on fees holds, whatever is asked and however long it takes', async (t) => {
  const { pool, sender } = setUp({ feePerGasMax: 4n * GWEI, stuckMs: 5 })
  pool.mine = () => false
  await t.rejects(sender.send(TO, '0x01'), { name: 'ChainUnavailable', message: 'no block took the transaction in time' })
  t.ok(pool.sent.length >= 2, 'it was replaced')
  t.ok(pool.sent.every(({ maxFeePerGas, maxPriorityFeePerGas }) => maxFeePerGas <= 4n * GWEI && maxPriorityFeePerGas <= 4n * GWEI))
  const before = pool.sent.length
  pool.asked = { maxFeePerGas: 1_001n * GWEI, maxPriorityFeePerGas: GWEI }
  await t.rejects(sender.send(TO, '0x02'), { name: 'ChainUnavailable', message: 'gas costs more than is allowed' })
  t.equal(pool.sent.length, before, 'a spike is waited out')
  // The fee of the block is below the bound, twice of it is above.
  pool.asked = { maxFeePerGas: 7n * GWEI, maxPriorityFeePerGas: GWEI }
  pool.mine = () => true
  t.ok(await sender.send(TO, '0x03'))
  t.equal(pool.sent.at(-1)!.maxFeePerGas, 4n * GWEI)
})

t.test('what an earlier run left waiting is replaced', async (t) => {
  const { pool, sender } = setUp()
  pool.sent.push({ nonce: 0, hash: `0x${'ee'.repeat(32)}`, maxFeePerGas: 9n * GWEI, maxPriorityFeePerGas: 3n * GWEI })
  pool.before = priced
  const { txHash } = await sender.send(TO, '0x01')
  t.equal(txHash, pool.sent[1]!.hash)
  t.ok(pool.sent[1]!.maxFeePerGas >= 10n * GWEI - GWEI / 10n)
})

t.test('a nonce that another transaction took: the next one', async (t) => {
  const { pool, sender } = setUp()
  pool.mine = (one) => {
    if (one.nonce > 0) return true
    pool.mined = 1
    return false
  }
  await sender.send(TO, '0x01')
  t.same(pool.sent.map(({ nonce }) => nonce), [0, 1])
})

t.test('an answer that is lost is one that is seen in a block', async (t) => {
  const { pool, sender } = setUp()
  pool.after = (count) => (count === 1 ? new ChainUnavailable('TimeoutError') : null)
  await t.rejects(sender.send(TO, '0x01'), { name: 'ChainUnavailable' }, 'it is not known whether it was sent')
  t.equal((await sender.send(TO, '0x02')).txHash, pool.sent[1]!.hash)
  t.same(pool.sent.map(({ nonce }) => nonce), [0, 1], 'and none is in its place')
})

t.test('one that the node never takes is refused in its words', async (t) => {
  const { pool, sender } = setUp()
  pool.before = () => new SendRefused('insufficient funds for gas * price + value')
  await t.rejects(sender.send(TO, '0x01'), { name: 'SendRefused', message: /^insufficient funds/ })
})
