/**
 * Promise: of a signature that is wrong in one of the usual ways it is told which, in both protocols; of any other,
 * that it is wrong.
 */
import t, { type Test } from 'tap'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { examine, firstDifference, type Examined, type SignedHeaders } from '../../gateway/auth/signature_debug.ts'
import { contentDigest } from '../../gateway/auth/rfc9421.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const [METHOD, TARGET, TIME] = ['POST', '/api/v1/orders?a=%2F', '1700000000123']
const BODY = '{"price": "1", "legs": [{"b": 2}]}'
const HASH = sha256(BODY)

function legacy(signed: string | Buffer, changed: SignedHeaders = {}): Examined {
  const signature = sign(null, Buffer.from(signed), privateKey).toString('hex')
  const headers = { 'x-svc-publickey': key, 'x-svc-timestamp': TIME, 'x-svc-signature': signature, ...changed }
  return examine({ method: METHOD, target: TARGET, headers, body: Buffer.from(BODY) })
}

const lines = (method = METHOD, target = TARGET, time = TIME, hash = HASH): string => [method, target, time, hash].join('\n')

function tells(t: Test, { refused, differs }: Examined, component: string, message: RegExp): void {
  t.equal(refused?.code, 'INVALID_SIGNATURE', message.source)
  t.equal(differs?.component, component, message.source)
  t.match(differs?.message, message)
}

t.test('legacy', async (t) => {
  const right = legacy(lines())
  t.same([right.protocol, right.refused, right.differs, right.signedText], ['legacy', null, null, lines()])
  t.equal(right.signedAt, Number(TIME))
  const cases: [signed: string | Buffer, component: string, message: RegExp][] = [
    [lines('post'), 'method', /lower case/],
    [lines(METHOD, '/api/v1/orders'), 'target', /without its query/],
    [lines(METHOD, '/orders?a=%2F'), 'target', /without \/api\/v1/],
    [lines(METHOD, '/api/v1/orders/?a=%2F'), 'target', /slash at its end/],
    [lines(METHOD, '/api/v1/orders?a=/'), 'target', /percent-decoding/],
    [lines(METHOD, TARGET, '1700000000'), 'timestamp', /seconds/],
    [lines(METHOD, TARGET, TIME, sha256('')), 'body', /empty body/],
    [lines(METHOD, TARGET, TIME, sha256(`${BODY}\n`)), 'body', /newline at its end/],
    [lines(METHOD, TARGET, TIME, sha256(JSON.stringify(JSON.parse(BODY)))), 'body', /without spaces/],
    [lines(METHOD, TARGET, TIME, HASH.toUpperCase()), 'body', /upper case/],
    [lines(METHOD, TARGET, TIME, Buffer.from(HASH, 'hex').toString('base64')), 'body', /base64/],
    [lines(METHOD, TARGET, TIME, BODY), 'body', /body itself/],
    [`${lines()}\n`, 'all', /newline at its end/],
    [lines().replaceAll('\n', '\r\n'), 'all', /CR LF/],
    [lines().replaceAll('\n', ''), 'all', /joined by nothing/],
    [Buffer.from(sha256(lines()), 'hex'), 'all', /as bytes/],
    [sha256(lines()), 'all', /in hex/],
  ]
  for (const [signed, component, message] of cases) tells(t, legacy(signed), component, message)
  const other = legacy('something else')
  t.same([other.refused?.code, other.differs], ['INVALID_SIGNATURE', null], 'anything else is only wrong')
  t.match(legacy(lines(), { 'x-svc-publickey': 'zz' }).refused?.message, /64 lowercase hex digits/)
  t.match(legacy(lines(), { 'x-svc-timestamp': '1' }).refused?.details, { expected: /13 digits/ })
  t.match(examine({ method: METHOD, target: TARGET, headers: {}, body: Buffer.alloc(0) }).refused?.code, 'UNAUTHENTICATED')
})

t.test('a body without and with spaces', async (t) => {
  const headersOf = (hash: string): SignedHeaders => ({
    'x-svc-publickey': key, 'x-svc-timestamp': TIME,
    'x-svc-signature': sign(null, Buffer.from(lines(METHOD, TARGET, TIME, hash)), privateKey).toString('hex'),
  })
  const compact = JSON.stringify(JSON.parse(BODY))
  tells(t, examine({ method: METHOD, target: TARGET, headers: headersOf(HASH), body: Buffer.from(compact) }), 'body', /with spaces/)
  const deep = '['.repeat(30_000) + ']'.repeat(30_000)
  t.equal(examine({ method: METHOD, target: TARGET, headers: headersOf(HASH), body: Buffer.from(deep) }).differs, null, 'too deep')
  tells(t, examine({ method: METHOD, target: TARGET, headers: headersOf(sha256('{}')), body: Buffer.alloc(0) }), 'body', /the body \{\}/)
})

const PARAMETERS = `("@method" "@path" "@query" "content-digest");created=1700000000;keyid="${key}";alg="ed25519"`

function base(
  method = METHOD, path = '/api/v1/orders', query = '?a=%2F', digest = contentDigest(Buffer.from(BODY)), last = PARAMETERS,
): string {
  return `"@method": ${method}\n"@path": ${path}\n"@query": ${query}\n"content-digest": ${digest}\n"@signature-params": ${last}`
}

function structured(signed: string | Buffer, changed: SignedHeaders = {}, target = TARGET): Examined {
  const headers = {
    'signature-input': `svc=${PARAMETERS}`, signature: `svc=:${sign(null, Buffer.from(signed), privateKey).toString('base64')}:`,
    'content-digest': contentDigest(Buffer.from(BODY)), ...changed,
  }
  return examine({ method: METHOD, target, headers, body: Buffer.from(BODY) })
}

t.test('RFC 9421', async (t) => {
  const right = structured(base())
  t.same([right.protocol, right.refused, right.signedText, right.signedAt], ['rfc9421', null, base(), 1_700_000_000_000])
  const cases: [signed: string | Buffer, component: string, message: RegExp][] = [
    [base('post'), '@method', /lower case/],
    [base(METHOD, '/orders'), '@path', /without \/api\/v1/],
    [base(METHOD, TARGET), '@path', /with its query/],
    [base(METHOD, '/api/v1/orders', 'a=%2F'), '@query', /without its question mark/],
    [base(METHOD, '/api/v1/orders', '?a=%2F', contentDigest(Buffer.from(BODY)), `svc=${PARAMETERS}`), '@signature-params', /label svc=/],
    [`${base()}\n`, 'all', /newline at its end/],
    [Buffer.from(sha256(base()), 'hex'), 'all', /as bytes/],
  ]
  for (const [signed, component, message] of cases) tells(t, structured(signed), component, message)
  tells(t, structured(base(METHOD, '/api/v1/orders', ''), {}, '/api/v1/orders'), '@query', /empty query/)
  const digest = contentDigest(Buffer.from('other'))
  const signedOther = structured(base(METHOD, '/api/v1/orders', '?a=%2F', digest), { 'content-digest': digest })
  tells(t, signedOther, 'content-digest', /The signature is of this Content-Digest/)
  tells(t, structured(base(), { 'content-digest': digest }), 'content-digest', /another digest/)
  t.match(structured(base(), { 'signature-input': 'svc=()' }).refused?.message, /^Signature-Input must cover/)
})

t.test('the first line that differs', async (t) => {
  t.equal(firstDifference(legacy(lines()), lines()), null)
  t.same(firstDifference(legacy(lines()), lines(METHOD, '/x')), { line: 2, component: 'target', expected: TARGET, yours: '/x' })
  t.same(firstDifference(legacy(lines()), `${lines()}\n`), { line: 5, component: 'all', expected: '', yours: '' })
  t.match(firstDifference(structured(base()), base('GET')), { line: 1, component: '@method' })
})
