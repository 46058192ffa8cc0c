/**
 * Promise: the one verifier takes a signature exactly when it is the canonical one of this message by this key. Vectors are made here: what
 * other verifiers are known to take or to choke on. Another run: SEED=n npm test -- test/security/hostile_signatures.test.ts
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES, verifySignature } from '../../gateway/auth/verifier.ts'
import { bytesOf, FIELD, GROUP_ORDER, joined, little, numberOf, SMALL_ORDER } from '../support/hostile_vectors.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6))
t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/security/hostile_signatures.test.ts`)
const prng = createPrng(seed)
const randomBytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => prng.below(256))

interface Signed {
  readonly key: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

function sign(): Signed {
  const secret = randomBytes(32)
  const message = randomBytes(prng.below(200))
  return { key: ed25519.getPublicKey(secret), message, signature: ed25519.sign(message, secret) }
}

t.test('RFC 8032, section 7.1: tests 1 to 3', async (t) => {
  const vectors = [
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
    ],
    [
      'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      'af82',
    ],
  ] as const
  const first =
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'
  t.equal(Buffer.from(ed25519.sign(bytesOf(''), bytesOf(vectors[0][0]))).toString('hex'), first)
  for (const [secret, key, message] of vectors) {
    t.ok(verifySignature(ed25519.sign(bytesOf(message), bytesOf(secret)), bytesOf(message), bytesOf(key)), `message "${message}"`)
  }
})

t.test('every bit of signature, key and message counts', async (t) => {
  const good = sign()
  t.ok(verifySignature(good.signature, good.message, good.key))
  for (const part of ['signature', 'key', 'message'] as const) {
    for (let bit = 0; bit < good[part].length * 8; bit++) {
      const changed = { ...good, [part]: Uint8Array.from(good[part]) }
      changed[part][bit >>> 3]! ^= 1 << (bit & 7)
      if (verifySignature(changed.signature, changed.message, changed.key)) t.fail(`bit ${bit} of the ${part} does not count`)
    }
  }
})

t.test('S is canonical: no multiple of the group order may be added', async (t) => {
  for (let round = 0; round < 20; round++) {
    const { key, message, signature } = sign()
    const s = numberOf(signature.subarray(32))
    t.ok(verifySignature(signature, message, key))
    let more = 0
    for (let other = s + GROUP_ORDER; other < 2n ** 256n; other += GROUP_ORDER, more++) {
      if (verifySignature(joined(signature.subarray(0, 32), little(other)), message, key)) t.fail(`S + ${more + 1} L is taken`)
    }
    t.ok(more >= 14)
  }
})

t.test('keys of small order sign nothing, whatever the signature', async (t) => {
  for (const key of SMALL_ORDER.map(bytesOf)) {
    for (const point of [...SMALL_ORDER.map(bytesOf), little(1n)]) {
      for (const s of [0n, 1n, GROUP_ORDER - 1n, GROUP_ORDER]) {
        // One message in eight would satisfy the equation of a verifier that does not look at the order.
        for (let round = 0; round < 16; round++) {
          if (verifySignature(joined(point, little(s)), randomBytes(8), key)) t.fail(`${Buffer.from(key).toString('hex')} signed`)
        }
      }
    }
  }
  t.ok(SMALL_ORDER.length === 8, 'all eight points were tried')
})

t.test('encodings of a coordinate beyond the field are none', async (t) => {
  for (let y = 0n; y < 19n; y++) {
    for (const sign of [0n, 1n << 255n]) {
      const point = little((y + FIELD) | sign)
      for (let round = 0; round < 8; round++) {
        const message = randomBytes(8)
        if (verifySignature(joined(point, little(0n)), message, point)) t.fail(`key and R of y + p, y = ${y}`)
        if (verifySignature(joined(point, little(0n)), message, little(1n))) t.fail(`R of y + p, y = ${y}`)
      }
    }
  }
  const good = sign()
  t.ok(verifySignature(good.signature, good.message, good.key), 'and a good one still verifies')
})

t.test('R of small order, or moved by a point of small order, is refused', async (t) => {
  const { key, message, signature } = sign()
  const commitment = ed25519.Point.fromHex(Buffer.from(signature.subarray(0, 32)).toString('hex'))
  for (const text of SMALL_ORDER) {
    if (verifySignature(joined(bytesOf(text), signature.subarray(32)), message, key)) t.fail(`R = ${text}`)
    const torsion = ed25519.Point.fromHex(text)
    if (torsion.is0()) continue
    const moved = joined(commitment.add(torsion).toBytes(), signature.subarray(32))
    if (verifySignature(moved, message, key)) t.fail(`R moved by ${text}: only a verifier that multiplies by eight takes it`)
  }
  t.ok(verifySignature(signature, message, key))
})

t.test('lengths are exact, and nothing throws', async (t) => {
  const { key, message, signature } = sign()
  for (let length = 0; length <= 130; length++) {
    const other = joined(signature, randomBytes(66)).subarray(0, length)
    t.equal(verifySignature(other, message, key), length === SIGNATURE_BYTES, `a signature of ${length} bytes`)
  }
  for (let length = 0; length <= 66; length++) {
    const other = joined(key, randomBytes(34)).subarray(0, length)
    t.equal(verifySignature(signature, message, other), length === PUBLIC_KEY_BYTES, `a key of ${length} bytes`)
  }
})
