/**
 * Promise: the vault accepts the proof of a leaf of a posted batch at its place, as core/settlement makes it, and nothing that differs in
 * one bit, one place, one sibling, the batch or the kind of leaf.
 */
import t from 'tap'
import { toHex, type Hex } from 'viem'
import { balanceLeaf, tradeLeaf } from '../../core/settlement/leaves.ts'
import { EMPTY_ROOT, MerkleTree } from '../../core/settlement/merkle.ts'
import { done, newStage, OPERATOR, type Stage } from '../support/vault_ground.ts'

t.setTimeout(180_000)

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const trade = (n: number): Uint8Array => tradeLeaf({
  sequence: 100 + n, index: n % 3, pair: uuid(1), price: 5_000 + n, lots: 3, quote: 15_000n, taker: uuid(2), maker: uuid(3), takerFee: 7n,
  makerFee: -2n, time: 1_800_000_000_000 + n,
})
const balance = (n: number): Uint8Array =>
  balanceLeaf({ batch: 1, user: uuid(n), asset: uuid(9), available: BigInt(n), locked: 1n, margin: -1n, rewards: 0n })
const leaves = (count: number, of: (n: number) => Uint8Array): Uint8Array[] => Array.from({ length: count }, (_, n) => of(n))

/** Posts the trees as the next batch. */
async function post({ ground, vault }: Stage, number: bigint, trades: MerkleTree, balances: MerkleTree): Promise<void> {
  const args = [number, number * 10n, trades.count, toHex(trades.root), balances.count, toHex(balances.root)]
  await done(ground.act(OPERATOR, vault, 'postBatch', args))
}

type Kind = 'verifyTrade' | 'verifyBalance'
const verify = (
  stage: Stage, kind: Kind, number: bigint, leaf: Uint8Array, index: bigint, proof: readonly Uint8Array[],
): Promise<boolean> =>
  stage.ground.read(stage.vault, kind, [number, toHex(leaf), index, proof.map((hash) => toHex(hash))])

t.test('every leaf of trees of 1 to 9 and of 17 leaves is proved, and at no other place', async (t) => {
  const stage = await newStage()
  let number = 0n
  for (const count of [1, 2, 3, 4, 5, 6, 7, 8, 9, 17]) {
    const texts = leaves(count, trade)
    const tree = MerkleTree.of(texts)
    await post(stage, ++number, tree, MerkleTree.of([]))
    let proved = 0
    let elsewhere = 0
    for (let index = 0; index < count; index++) {
      const proof = tree.proof(index)
      if (await verify(stage, 'verifyTrade', number, texts[index]!, BigInt(index), proof)) proved++
      for (let other = Math.max(0, index - 1); other <= index + 1; other += 2) {
        if (other === index) continue
        if (await verify(stage, 'verifyTrade', number, texts[index]!, BigInt(other), proof)) elsewhere++
      }
    }
    t.equal(proved, count, `${count} leaves`)
    t.equal(elsewhere, 0)
  }
})

t.test('nothing that differs is proved', async (t) => {
  const stage = await newStage()
  const trades = leaves(11, trade)
  const balances = leaves(6, balance)
  const [tradeTree, balanceTree] = [MerkleTree.of(trades), MerkleTree.of(balances)]
  await post(stage, 1n, tradeTree, balanceTree)
  await post(stage, 2n, MerkleTree.of([]), MerkleTree.of([]))
  const ask = (leaf: Uint8Array, index: bigint, proof: readonly Uint8Array[], kind: Kind = 'verifyTrade', number = 1n): Promise<boolean> =>
    verify(stage, kind, number, leaf, index, proof)
  const proof = tradeTree.proof(4)
  t.equal(await ask(trades[4]!, 4n, proof), true)
  t.equal(await ask(balances[5]!, 5n, balanceTree.proof(5), 'verifyBalance'), true)

  t.equal(await ask(balances[5]!, 5n, balanceTree.proof(5)), false, 'a balance is no trade')
  t.equal(await ask(trades[4]!, 4n, proof, 'verifyBalance'), false)
  t.equal(await ask(trades[4]!, 4n, proof, 'verifyTrade', 2n), false, 'another batch')
  t.equal(await ask(trades[4]!, 4n, proof, 'verifyTrade', 3n), false, 'a batch that is not posted')
  t.equal(await ask(trades[4]!, 4n, proof.slice(0, -1)), false, 'too short')
  t.equal(await ask(trades[4]!, 4n, []), false)
  t.equal(await ask(trades[4]!, 4n, [...proof, proof[0]!]), false, 'too long')
  t.equal(await ask(trades[4]!, 4n, [...proof].reverse()), false, 'in another order')
  t.equal(await ask(trades[4]!.subarray(0, -1), 4n, proof), false)
  t.equal(await ask(new Uint8Array(), 4n, proof), false)
  t.equal(await ask(trades[4]!, 2n ** 256n - 1n, proof), false, 'an index beyond all numbers')
  t.equal(await ask(trades[4]!, 4n + 16n, proof), false, 'an index that is the same modulo the width')
  for (const bit of [0, 200, 927]) {
    const changed = trades[4]!.slice()
    changed[bit >> 3]! ^= 1 << (bit & 7)
    t.equal(await ask(changed, 4n, proof), false, `bit ${bit} of the leaf`)
  }
  for (const at of proof.keys()) {
    const changed = proof.map((hash) => hash.slice())
    changed[at]![31]! ^= 1
    t.equal(await ask(trades[4]!, 4n, changed), false, `sibling ${at}`)
  }
})

t.test('a node cannot be passed off as a leaf, nor nothing as something', async (t) => {
  const stage = await newStage()
  const texts = leaves(2, trade)
  const tree = MerkleTree.of(texts)
  await post(stage, 1n, tree, MerkleTree.of([]))
  const [left, right] = [tree.proof(1)[0]!, tree.proof(0)[0]!]
  const node = Uint8Array.from([1, ...left, ...right])
  for (const bytes of [node, node.subarray(1)]) {
    t.equal(await verify(stage, 'verifyTrade', 1n, bytes, 0n, []), false)
    t.equal(await verify(stage, 'verifyTrade', 1n, bytes, 0n, [right]), false)
  }
  t.equal(await verify(stage, 'verifyBalance', 1n, new Uint8Array(), 0n, []), false, 'the empty tree has no leaf')
  t.equal(await verify(stage, 'verifyBalance', 1n, EMPTY_ROOT, 0n, []), false)
  const [, , , , root] = await stage.ground.read<[bigint, number, Hex, number, Hex]>(stage.vault, 'batches', [1n])
  t.equal(root, toHex(EMPTY_ROOT))
})
