/**
 * Promise: the client tells a proof of settlement that is good from one that is not: by its hashes, by what the leaf says against one's own
 * records, and by what the vault contract has. A node that lies in any field, fails or has no vault makes no proof good.
 */
import t from 'tap'
import { encodeAbiParameters, parseAbi, toFunctionSelector } from 'viem'
import { balanceLeaf, tradeLeaf, type BalanceLeaf, type TradeLeaf } from '../../core/settlement/leaves.ts'
import { MerkleTree } from '../../core/settlement/merkle.ts'
import { tradeId } from '../../core/layout/ids.ts'
import {
  amountOf, expectedTrade, postedBatch, ProofError, verifyBalance, verifyPosted, verifyTrade, type InclusionProof,
} from '../../gateway/client/index.ts'

const hex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`
const USER = '00000000-0002-8003-8000-000400000002'
const ASSET = '00000000-0001-8009-8000-000000000009'
const PAIR = '00000000-0001-800a-8000-000300000001'
const VAULT = `0x${'ab'.repeat(20)}`

const trade: TradeLeaf = {
  sequence: 5000, index: 2, pair: PAIR, price: 4_200_050, lots: 1500, quote: 630_007_500n, taker: USER,
  maker: '00000000-0003-8003-8000-000500000003', takerFee: 315n, makerFee: -126n, time: Date.parse('2026-11-27T01:02:03.456Z'),
}
const balance: BalanceLeaf = { batch: 7, user: USER, asset: ASSET, available: 1_500_000n, locked: 250n, margin: -17n, rewards: 3n }
const others = Array.from({ length: 9 }, (_, at) => at)

/** A proof of `bytes` as the leaf at place 4 of ten. */
function proofOf(batch: number, bytes: Uint8Array, other: (at: number) => Uint8Array): InclusionProof {
  const leaves = others.map(other)
  leaves.splice(4, 0, bytes)
  const tree = MerkleTree.of(leaves)
  return { batch, leaf: hex(bytes), index: 4, count: 10, proof: tree.proof(4).map(hex), root: hex(tree.root) }
}
const tradeProof = proofOf(7, tradeLeaf(trade), (at) => tradeLeaf({ ...trade, index: at + 10 }))
const balanceProof = proofOf(7, balanceLeaf(balance), (at) => balanceLeaf({ ...balance, rewards: BigInt(at) + 10n }))

/** A node whose vault has these words of the batch. */
const POSTED = {
  through: 9000, trades: 10, tradesRoot: tradeProof.root, balances: 10, balancesRoot: balanceProof.root, postedAt: 1_790_000_000,
}
function nodeWith(words: Partial<typeof POSTED>) {
  const asked: any[] = []
  const answer = { ...POSTED, ...words }
  const fetch = (async (_url: string, { body }: { body: string }) => {
    asked.push(JSON.parse(body))
    const result = encodeAbiParameters(
      ['uint64', 'uint32', 'bytes32', 'uint32', 'bytes32', 'uint64'].map((type) => ({ type })),
      [BigInt(answer.through), answer.trades, answer.tradesRoot, answer.balances, answer.balancesRoot, BigInt(answer.postedAt)],
    )
    return Response.json({ jsonrpc: '2.0', id: 1, result })
  }) as unknown as typeof globalThis.fetch
  return { place: { rpcUrl: 'http://node.example', vault: VAULT, fetch }, asked }
}
const answering = (value: unknown) => ({
  rpcUrl: 'http://node.example', vault: VAULT, fetch: (async () => Response.json(value)) as unknown as typeof fetch,
})

t.test('what is good', async (t) => {
  t.same(verifyTrade(tradeProof), trade)
  t.same(verifyBalance(balanceProof), balance)
  const { place, asked } = nodeWith({})
  t.match(await verifyPosted(tradeProof, 'trade', place), { through: 9000, trades: 10 })
  t.match(await verifyPosted(balanceProof, 'balance', { ...place, block: 'finalized' }), { postedAt: 1_790_000_000 })
  const selector = toFunctionSelector(parseAbi(['function batches(uint64)'])[0]!)
  t.same(asked.map(({ method, params }) => [method, params]), [
    ['eth_call', [{ to: VAULT, data: `${selector}${'7'.padStart(64, '0')}` }, 'latest']],
    ['eth_call', [{ to: VAULT, data: `${selector}${'7'.padStart(64, '0')}` }, 'finalized']],
  ])
})

t.test('a record held against its leaf', async (t) => {
  const record = {
    id: tradeId(5000, 2), tradingPairId: PAIR, price: '42000.50', quantity: '0.015', quoteQuantity: '630.0075',
    executedAt: '2026-11-27T01:02:03.456Z',
  }
  const pair = { tickSize: '0.01', lotSize: '0.00001', quoteAmountDecimals: 6 }
  t.same(verifyTrade(tradeProof, { ...expectedTrade(record, pair), taker: USER }), trade)
  const differs = (more: Partial<typeof record>, what: RegExp) =>
    t.throws(() => verifyTrade(tradeProof, expectedTrade({ ...record, ...more }, pair)), { name: 'ProofError', message: what })
  differs({ id: tradeId(5000, 3) }, /index is 2, not 3/)
  differs({ id: tradeId(5001, 2) }, /sequence is 5000, not 5001/)
  differs({ price: '42000.51' }, /price is 4200050, not 4200051/)
  differs({ price: '42000.505' }, /no multiple of 0.01/)
  differs({ quantity: '0.01501' }, /lots is 1500, not 1501/)
  differs({ quoteQuantity: '630.0076' }, /quote is/)
  differs({ executedAt: '2026-11-27T01:02:03.457Z' }, /time is/)
  t.throws(() => verifyBalance(balanceProof, { available: 1_500_001n }), /available is 1500000, not 1500001/)
  t.equal(amountOf(1_500_000n, 6), '1.5')
  t.equal(amountOf(-17n, 6), '-0.000017')
  t.equal(amountOf(42n, 0), '42')
  t.equal(amountOf(0n, 2), '0')
})

t.test('what is not good', async (t) => {
  const bent = (text: string): string => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')
  for (const more of [
    { leaf: bent(tradeProof.leaf) }, { root: bent(tradeProof.root) }, { index: 5 }, { count: 17 }, { proof: tradeProof.proof.slice(1) },
    { proof: tradeProof.proof.map(bent) }, { leaf: tradeProof.leaf.slice(0, -1) }, { root: tradeProof.root.slice(2) }, { proof: ['0xzz'] },
  ]) t.throws(() => verifyTrade({ ...tradeProof, ...more }), ProofError, JSON.stringify(Object.keys(more)))
  t.throws(() => verifyTrade(balanceProof), /no trade/)
  t.throws(() => verifyBalance(tradeProof), /no balance/)
  t.throws(() => verifyBalance({ ...balanceProof, batch: 8 }), /of batch 7, not 8/)
})

t.test('what the chain says otherwise', async (t) => {
  const wrong = hex(new Uint8Array(32).fill(9))
  await t.rejects(verifyPosted(tradeProof, 'trade', nodeWith({ tradesRoot: wrong }).place), /has the root 0x0909/)
  await t.rejects(verifyPosted(balanceProof, 'balance', nodeWith({ balancesRoot: wrong }).place), /has the root 0x0909/)
  await t.rejects(verifyPosted(tradeProof, 'trade', nodeWith({ trades: 11 }).place), /has 11 leaves, not 10/)
  await t.rejects(verifyPosted(tradeProof, 'trade', nodeWith({ through: 4999 }).place), /newer than its batch/)
  await t.rejects(verifyPosted(tradeProof, 'trade', nodeWith({ postedAt: 0 }).place), /has no batch 7/)
  await t.rejects(verifyPosted(tradeProof, 'balance', nodeWith({}).place), /no balance/)
  t.equal(await postedBatch(7, nodeWith({ postedAt: 0 }).place), null)
  await t.rejects(postedBatch(7, answering({ result: '0x' })), /no vault at that address/)
  await t.rejects(postedBatch(7, answering({ error: { message: 'busy' } })), /the node refused: busy/)
  await t.rejects(postedBatch(7, answering({})), /the node refused: 200/)
})
