/**
 * Promise: Merkle roots, proofs and leaf bytes of settlement are those of the written rules. The fixed values were made by a program of
 * ten lines in another language from the rules alone, the contract is held against the same ones.
 */
import t from 'tap'
import {
  balanceLeaf, readBalanceLeaf, readTradeLeaf, tradeLeaf, type BalanceLeaf, type TradeLeaf,
} from '../../core/settlement/leaves.ts'
import { EMPTY_ROOT, leafHash, MerkleTree, RootBuilder, verifyProof } from '../../core/settlement/merkle.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
/** Leaves of one byte: 00, 01, 02 ... */
const leaves = (count: number): Uint8Array[] => Array.from({ length: count }, (_, at) => Uint8Array.of(at))

/** Roots of the first so many leaves of one byte. */
const ROOTS: Readonly<Record<number, string>> = {
  0: '0000000000000000000000000000000000000000000000000000000000000000',
  1: '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
  2: 'a20bf9a7cc2dc8a08f5f415a71b19f6ac427bab54d24eec868b5d3103449953a',
  3: '3b6cccd7e3e023ff393006f030315ee7ad9eb111b022b41fba7e5b7a3973f688',
  4: '9bcd51240af4005168f033121ba85be5a6ed4f0e6a5fac262066729b8fbfdecb',
  5: 'b855b42d6c30f5b087e05266783fbd6e394f7b926013ccaa67700a8b0c5a596f',
  6: 'bb36e7d3d4cee5720cbd323d02fab15962e2ba1dadf5f8fc6eeef4fd6ad056a8',
  7: '3560191803028444b232018ac047fdb561c09c23a7a6876c85e08b5e4d48e9f3',
}
const [PAIR_45, PAIR_01, PAIR_23] = [
  '4b8c129ed14cce2c08cfc6766db7f8cdb133b5f698b8de3d5890ea7ff7f0a8d1', ROOTS[2]!,
  '52c56b473e5246933e7852989cd9feba3b38f078742b93afff1e65ed46797825',
]

const TRADE: TradeLeaf = {
  sequence: 1_234_567_890_123, index: 7, pair: '00000000-0001-800a-8000-000300000001', price: 4_200_000, lots: 1500,
  quote: 630_000_000_000n, taker: '00000000-0002-8003-8000-000400000002', maker: '00000000-0003-8003-8000-000500000003',
  takerFee: 315_000n, makerFee: -126_000n, time: 1_795_651_200_123,
}
const TRADE_BYTES = '72696e67626f6f6b20747261646520310000011f71fb04cb00000007000000000001800a8000000300000001004016400000' +
  '05dc00000092aeed1c000000000000028003800000040000000200000000000380038000000500000003000000000004ce78fffffffffffe13d0' +
  '000001a21526e47b'
const BALANCE: BalanceLeaf = {
  batch: 42, user: '00000000-0002-8003-8000-000400000002', asset: '00000000-0001-8009-8000-000000000009',
  available: 9_007_199_254_740_993n, locked: 250n, margin: -17n, rewards: 3n,
}
const BALANCE_BYTES = '72696e67626f6f6b2062616c616e6365000000000000002a000000000002800380000004000000020000000000018009800000' +
  '0000000009002000000000000100000000000000faffffffffffffffef0000000000000003'

t.test('roots by hand, streamed and of a tree', async (t) => {
  for (const [text, root] of Object.entries(ROOTS)) {
    const count = Number(text)
    const builder = new RootBuilder()
    for (const leaf of leaves(count)) builder.add(leaf)
    t.equal(hex(builder.root()), root, `streamed, ${count} leaves`)
    t.equal(builder.count, count)
    t.equal(hex(MerkleTree.of(leaves(count)).root), root, `tree, ${count} leaves`)
  }
  t.equal(hex(leafHash(new Uint8Array())), '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d', 'no bytes')
  t.equal(EMPTY_ROOT.length, 32)
})

t.test('proofs by hand', async (t) => {
  const proof = (count: number, index: number): string[] => MerkleTree.of(leaves(count)).proof(index).map(hex)
  t.same(proof(1, 0), [], 'an only leaf is the root')
  t.same(proof(3, 2), [PAIR_01], 'a leaf that goes up alone has no sibling there')
  t.same(proof(5, 4), [ROOTS[4]])
  t.same(proof(7, 6), [PAIR_45, ROOTS[4]])
  t.same(proof(6, 1), [ROOTS[1], PAIR_23, PAIR_45])
  t.throws(() => proof(6, 6), RangeError)
  t.throws(() => proof(0, 0), RangeError)
})

t.test('every leaf is proved, and nothing else', async (t) => {
  for (let count = 1; count <= 70; count++) {
    const tree = MerkleTree.of(leaves(count))
    const { root } = tree
    const wrong: string[] = []
    for (let index = 0; index < count; index++) {
      const [bytes, proof] = [Uint8Array.of(index), tree.proof(index)]
      const holds = (b = bytes, i = index, n = count, p = proof, r = root): boolean => verifyProof(r, b, i, n, p)
      if (!holds()) wrong.push(`${index} of ${count} is not proved`)
      if (holds(Uint8Array.of(index + 1))) wrong.push(`${index} of ${count}: other bytes`)
      if (holds(Uint8Array.of(index, 0))) wrong.push(`${index} of ${count}: longer bytes`)
      for (let other = 0; other < count; other++) {
        if (other !== index && holds(bytes, other)) wrong.push(`${index} of ${count}: at ${other}`)
      }
      if (holds(bytes, index, count, [...proof, root])) wrong.push(`${index} of ${count}: one hash too many`)
      if (proof.length > 0 && holds(bytes, index, count, proof.slice(1))) wrong.push(`${index} of ${count}: a hash is missing`)
      if (holds(bytes, index, count, proof, leafHash(root))) wrong.push(`${index} of ${count}: another root`)
      for (let at = 0; at < proof.length; at++) {
        const bent = proof.map((hash, place) => (place === at ? hash.map((byte, i) => (i === 31 ? byte ^ 1 : byte)) : hash))
        if (holds(bytes, index, count, bent)) wrong.push(`${index} of ${count}: hash ${at} bent`)
      }
    }
    t.same(wrong, [], `${count} leaves`)
  }
})

t.test('what is no place or no hash proves nothing', async (t) => {
  const tree = MerkleTree.of(leaves(4))
  const [bytes, proof] = [Uint8Array.of(1), tree.proof(1)]
  for (const index of [-1, 4, 1.5, NaN, Infinity]) t.notOk(verifyProof(tree.root, bytes, index, 4, proof), `index ${index}`)
  for (const count of [0, 1, 3.5, NaN, 2 ** 32]) t.notOk(verifyProof(tree.root, bytes, 1, count, proof), `count ${count}`)
  t.notOk(verifyProof(tree.root, bytes, 1, 4, [proof[0]!, proof[1]!.subarray(1)]), 'a short hash')
  t.notOk(verifyProof(tree.root.subarray(1), bytes, 1, 4, proof), 'a short root')
  // An inner node does not pass for a leaf: leaves and nodes are hashed apart.
  const inner = Uint8Array.from([...leafHash(Uint8Array.of(0)), ...leafHash(Uint8Array.of(1))])
  t.notOk(verifyProof(tree.root, inner, 0, 2, [tree.proof(2)[1]!]), 'an inner node is no leaf')
  t.throws(() => new MerkleTree(new Uint8Array(33)), RangeError)
})

t.test('bytes of leaves by hand, there and back', async (t) => {
  t.equal(hex(tradeLeaf(TRADE)), TRADE_BYTES)
  t.equal(hex(leafHash(tradeLeaf(TRADE))), 'a85ff2680f9e76bd0dbd1113fa697e120738ff65c7f2c4c0b2fd2d33acb37744')
  t.equal(hex(balanceLeaf(BALANCE)), BALANCE_BYTES)
  t.equal(hex(leafHash(balanceLeaf(BALANCE))), '04a958880b9b51081867e7ee9c3bf1879a2a48cf96b13a4ed842dcd4e703f31a')
  t.same(readTradeLeaf(tradeLeaf(TRADE)), TRADE)
  t.same(readBalanceLeaf(balanceLeaf(BALANCE)), BALANCE)
  t.equal(readTradeLeaf(balanceLeaf(BALANCE)), null, 'a balance is no trade')
  t.equal(readBalanceLeaf(tradeLeaf(TRADE)), null)
  t.equal(readTradeLeaf(tradeLeaf(TRADE).subarray(1)), null)
  const padded = Uint8Array.from([9, 9, ...balanceLeaf(BALANCE)])
  t.same(readBalanceLeaf(padded.subarray(2)), BALANCE, 'out of the middle of a buffer')
})

t.test('what a field does not hold is refused, not cut', async (t) => {
  const trade = (more: Partial<TradeLeaf>) => (): unknown => tradeLeaf({ ...TRADE, ...more })
  const balance = (more: Partial<BalanceLeaf>) => (): unknown => balanceLeaf({ ...BALANCE, ...more })
  for (const price of [-1, 1.5, 2 ** 32, NaN]) t.throws(trade({ price }), RangeError, `price ${price}`)
  t.throws(trade({ quote: -1n }), RangeError)
  t.throws(trade({ takerFee: 2n ** 63n }), RangeError)
  t.throws(trade({ pair: '00000000-0001-800a-8000-00030000000' }), RangeError)
  t.throws(balance({ available: 2n ** 64n }), RangeError)
  t.throws(balance({ locked: -1n }), RangeError)
  t.throws(balance({ margin: -(2n ** 63n) - 1n }), RangeError)
  t.doesNotThrow(balance({ margin: -(2n ** 63n), available: 2n ** 64n - 1n }))
})
