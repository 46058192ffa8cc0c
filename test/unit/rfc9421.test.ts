/**
 * Promise: the signed text is RFC 9421's and the digest RFC 9530's, by the examples of both; and of all the texts there are, only the
 * canonical writing of the profile is read.
 */
import { constants, createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { contentDigest, readSignatureInput, signatureBase } from '../../gateway/auth/rfc9421.ts'

const BODY = '{"hello": "world"}'

t.test('RFC 9421, B.2.6: ed25519', async (t) => {
  const privateKey = createPrivateKey('-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n'
    + '-----END PRIVATE KEY-----\n')
  const names = '("date" "@method" "@path" "@authority" "content-type" "content-length")'
  const base = signatureBase(
    [
      ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'], ['@method', 'POST'], ['@path', '/foo'], ['@authority', 'example.com'],
      ['content-type', 'application/json'], ['content-length', '18'],
    ],
    `${names};created=1618884473;keyid="test-key-ed25519"`,
  )
  t.equal(base, [
    '"date": Tue, 20 Apr 2021 02:07:55 GMT',
    '"@method": POST',
    '"@path": /foo',
    '"@authority": example.com',
    '"content-type": application/json',
    '"content-length": 18',
    `"@signature-params": ${names};created=1618884473;keyid="test-key-ed25519"`,
  ].join('\n'))
  t.equal(
    sign(null, Buffer.from(base), privateKey).toString('base64'),
    'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
  )
})

t.test('RFC 9421, 2.5 and 3.1: the base with a digest', async (t) => {
  const publicKey = createPublicKey(`-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
+QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
2wIDAQAB
-----END PUBLIC KEY-----
`)
  const digest = 'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:'
  t.equal(digest, `sha-512=:${createHash('sha512').update(BODY).digest('base64')}:`)
  const base = signatureBase(
    [
      ['@method', 'POST'], ['@authority', 'example.com'], ['@path', '/foo'], ['content-digest', digest], ['content-length', '18'],
      ['content-type', 'application/json'],
    ],
    '("@method" "@authority" "@path" "content-digest" "content-length" "content-type");created=1618884473;keyid="test-key-rsa-pss"',
  )
  const signature = 'HIbjHC5rS0BYaa9v4QfD4193TORw7u9edguPh0AW3dMq9WImrlFrCGUDih47vAxi4L2YRZ3XMJc1uOKk/J0ZmZ+wcta4nKIgBkKq0rM9hs3CQyxXGxHL'
    + 'MCy8uqK488o+9jrptQ+xFPHK7a9sRL1IXNaagCNN3ZxJsYapFj+JXbmaI5rtAdSfSvzPuBCh+ARHBmWuNo1UzVVdHXrl8ePL4cccqlazIJdC4QEjrF+Sn4IxBQzT'
    + 'ZsL9y9TP5FsZYzHvDqbInkTNigBcE9cKOYNFCn4D/WM7F6TNuZO9EgtzepLWcjTymlHzK7aXq6Am6sfOrpIC49yXjj3ae6HRalVc/g=='
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 }
  t.ok(verify('sha512', Buffer.from(base), key, Buffer.from(signature, 'base64')), 'the example\'s signature is of this base')
})

t.test('RFC 9530: digests', async (t) => {
  t.equal(contentDigest(Buffer.from(BODY)), 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:')
  t.equal(contentDigest(Buffer.from(`${BODY}\n`)), 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:')
  t.equal(contentDigest(Buffer.alloc(0)), 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:', 'of no bytes')
  t.equal(contentDigest(Buffer.alloc(2 * 1024 * 1024, 0xff)), `sha-256=:${
    createHash('sha256').update(Buffer.alloc(2 * 1024 * 1024, 0xff)).digest('base64')}:`, 'bytes that are no text')
})

const KEY = '0123456789abcdef'.repeat(4)
/** The six writings of these parameters. */
function writings(created: number, key: string): string[] {
  const a = `;created=${created}`
  const b = `;keyid="${key}"`
  const c = ';alg="ed25519"'
  return [a + b + c, a + c + b, b + a + c, b + c + a, c + a + b, c + b + a]
    .map((parameters) => `svc=("@method" "@path" "@query" "content-digest")${parameters}`)
}

t.test('the parameters are read in any order', async (t) => {
  for (const created of [0, 9, 1_700_000_000, 999_999_999_999_999]) {
    for (const text of writings(created, KEY)) t.strictSame(readSignatureInput(text), { created, key: KEY }, text)
  }
  t.equal(readSignatureInput(''), null)
})

t.test('what is read is one of those writings, whatever was sent', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  t.comment(`SEED=${seed} npm test -- test/unit/rfc9421.test.ts`)
  const random = createPrng(seed)
  const pieces = [
    '', ' ', '\t', ';', '=', '"', ',', '(', ')', ':', '\\', '0', '7', 'a', 'F', '-', '.', 'svc', 'created', 'keyid', 'alg', 'ed25519',
    '"@path"',
    ';created=1', `;keyid="${KEY}"`, ';alg="ed25519"', ';expires=1', '\u0661', '\u{1d7d8}',
  ]
  const right = writings(1_700_000_000, KEY)
  let read = 0
  for (let i = 0; i < 200_000; i++) {
    let text = right[i % right.length]!
    for (let edits = 1 + random.below(3); edits > 0; edits--) {
      const at = random.below(text.length + 1)
      text = text.slice(0, at) + pieces[random.below(pieces.length)]! + text.slice(at + random.below(3))
    }
    const found = readSignatureInput(text)
    if (found === null) continue
    read++
    if (!writings(found.created, found.key).includes(text)) t.fail(`read as ${JSON.stringify(found)}: ${text}`)
  }
  t.ok(read > 0, `${read} texts were read`)
})
