/**
 * Promise: the leaf of a trade that the history makes of its FILL, and the tree it makes of leaves, are those of core/settlement, bit by
 * bit, whatever stands in the fields and however many leaves there are; so are SHA-256 and ids as bytes.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { NodeStack, readHash, TradeLeafText } from '../../core/history/project/trade_tree.ts'
import { FILL } from '../../core/layout/event.ts'
import { formatId, IdKind, userId, writeId } from '../../core/layout/ids.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { HASH_WORDS, HashedText } from '../../core/lib/sha256.ts'
import { tradeLeaf } from '../../core/settlement/leaves.ts'
import { leafHash, MerkleTree } from '../../core/settlement/merkle.ts'
import { seedOf } from '../suite/rounds.ts'

t.setTimeout(180_000)

const SEED = seedOf()
const random = createPrng(SEED)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/unit/trade_tree.test.ts`)
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const hexOfWords = (words: Int32Array): string => Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
const long = (): bigint => BigInt.asIntN(64, (BigInt(random.below(2 ** 31)) << 33n) ^ (BigInt(random.below(2 ** 31)) << 11n))

t.test('SHA-256', async (t) => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 117, 119, 120, 200]) {
    const text = new HashedText(length)
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < length; at++) text.bytes[at] = random.below(256)
      text.run()
      t.equal(hexOfWords(text.hash), createHash('sha256').update(text.bytes.subarray(0, length)).digest('hex'), `${length} bytes`)
    }
  }
})

t.test('ids as bytes', async (t) => {
  const bytes = new Uint8Array(20)
  for (let round = 0; round < 200; round++) {
    const sequence = Math.floor((random.below(2 ** 24) * 2 ** 24 + random.below(2 ** 24)) / 2 ** random.below(40))
    const [kind, slot] = [random.below(200), random.below(2 ** 30)]
    writeId(new DataView(bytes.buffer), 3, kind, sequence, slot)
    t.equal(hexOf(bytes.subarray(3, 19)), formatId(kind, sequence, slot).replaceAll('-', ''), `${kind} ${sequence} ${slot}`)
  }
})

t.test('leaves', async (t) => {
  const names = {
    pairId: (pair: number): string => formatId(IdKind.PAIR, 9, pair),
    createdSequenceOf: (account: number): number => 5_000_000_000 + 7 * account,
  }
  const [text, record] = [new TradeLeafText(names), viewsOf(new ArrayBuffer(RECORD_BYTES))]
  for (let round = 0; round < 200; round++) {
    const fields = {
      sequence: random.below(2 ** 31) * 2 ** random.below(17), index: random.below(2 ** 24), pair: random.below(3),
      price: random.below(2 ** 31), lots: random.below(2 ** 31), quote: long() & (2n ** 63n - 1n), takerFee: long(), makerFee: long(),
      time: 1_700_000_000_000 + random.below(2 ** 31),
    }
    const [takerAccount, makerAccount] = [random.below(2 ** 24), random.below(2 ** 24)]
    encode(FILL, record, 0, { kind: 2, ...fields, takerAccount, makerAccount, makerFlags: 7, takerFlags: 1, makerSequence: 12 })
    const [taker, maker] = [takerAccount, makerAccount].map((account) => userId(names.createdSequenceOf(account), account))
    const wanted = tradeLeaf({ ...fields, pair: names.pairId(fields.pair), taker: taker!, maker: maker! })
    text.write(record, 0)
    t.equal(hexOf(text.bytes), hexOf(wanted), 'the bytes')
    t.equal(hexOfWords(text.hash()), hexOf(leafHash(wanted)), 'and their hash')
  }
})

t.test('roots', async (t) => {
  const [most, leaf, root] = [1100, new Int32Array(HASH_WORDS), viewsOf(new ArrayBuffer(64))]
  const [stack, leaves] = [new NodeStack(12), new Uint8Array(32 * most)]
  for (let count = 0; count <= most; count++) {
    stack.writeRoot(root, 3)
    const wanted = hexOf(new MerkleTree(leaves.slice(0, 32 * count)).root)
    if (hexOf(root.bytes.subarray(12, 44)) !== wanted) t.fail(`${count} leaves`)
    for (let at = 0; at < 32; at++) leaves[32 * count + at] = random.below(256)
    readHash(viewsOf(leaves.slice(32 * count, 32 * count + 32).buffer), 0, leaf)
    stack.add(leaf)
  }
  t.equal(stack.count, most + 1, `roots of 0 to ${most} leaves`)
})
