/** Promise: who signs wrongly is told which header is wrong and what it has to be; whose key it is, is told to nobody. */
import t, { type Test } from 'tap'
import { request, signed, startHarness } from '../support/gateway_harness.ts'
import { headersOf, parametersOf, partsOf } from '../support/message_signature.ts'

const harness = await startHarness([])
t.teardown(() => harness.close())
const session = await harness.openSession()
const ME = '/api/v1/accounts/me'
type Headers = Record<string, string | undefined>

/** What the service says to these headers. */
async function said(headers: Headers): Promise<{ code: string; message: string }> {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const { status, json } = await request(harness.port, 'GET', ME, Object.fromEntries(given))
  return { code: status === 200 ? 'served' : json.code, message: json.message }
}

type Case = readonly [change: Headers, code: string, message: RegExp]

async function check(t: Test, right: Headers, cases: readonly Case[]): Promise<void> {
  t.equal((await said(right)).code, 'served')
  for (const [change, code, message] of cases) {
    const answer = await said({ ...right, ...change })
    t.equal(answer.code, code, JSON.stringify(change))
    t.match(answer.message, message)
  }
}

t.test('legacy headers', async (t) => {
  const right = signed(session, 'GET', ME, '') as Headers
  const other = signed({ ...session, publicKey: 'ab'.repeat(32) }, 'GET', ME, '') as Headers
  await check(t, right, [
    [
      { 'X-Svc-PublicKey': undefined, 'X-Svc-Timestamp': undefined, 'X-Svc-Signature': undefined }, 'UNAUTHENTICATED',
      /^Authentication required$/,
    ],
    [{ 'X-Svc-Signature': undefined }, 'UNAUTHENTICATED', /^X-Svc-Signature is missing/],
    [{ 'X-Svc-PublicKey': undefined, 'X-Svc-Timestamp': undefined }, 'UNAUTHENTICATED', /^X-Svc-PublicKey and X-Svc-Timestamp are missing/],
    [{ 'X-Svc-PublicKey': 'AB' }, 'UNAUTHENTICATED', /^X-Svc-PublicKey must be 64 lowercase hex digits$/],
    [{ 'X-Svc-PublicKey': other['X-Svc-PublicKey'] }, 'UNAUTHENTICATED', /^This public key has no session: sign in/],
    [{ 'X-Svc-Timestamp': 'now' }, 'CLOCK_SKEW', /^X-Svc-Timestamp must be Unix milliseconds: 13 digits$/],
    [{ 'X-Svc-Timestamp': '1700000000' }, 'CLOCK_SKEW', /^request timestamp outside allowed skew$/],
    [{ 'X-Svc-Timestamp': '1700000000000' }, 'CLOCK_SKEW', /^request timestamp outside allowed skew$/],
    [{ 'X-Svc-Signature': 'zz' }, 'INVALID_SIGNATURE', /^X-Svc-Signature must be 128 lowercase hex digits$/],
    [{ 'X-Svc-Signature': '00'.repeat(64) }, 'INVALID_SIGNATURE', /^Signature rejected: /],
    [{ 'x-server-key': 'sk_x' }, 'MIXED_CREDENTIALS', /^Mixed credential protocols/],
  ])
})

t.test('RFC 9421', async (t) => {
  const parts = partsOf(session, 'GET', ME)
  const right = headersOf({ ...parts, parameters: parametersOf(session.publicKey) }) as Headers
  const input = right['Signature-Input']!
  const changed = (from: string | RegExp, to: string): Headers => ({ 'Signature-Input': input.replace(from, to) })
  const digest = `sha-256=:${Buffer.alloc(32).toString('base64')}:`
  await check(t, right, [
    [{ 'Signature-Input': undefined }, 'UNAUTHENTICATED', /^Signature-Input is missing/],
    [{ Signature: undefined }, 'UNAUTHENTICATED', /^Signature is missing/],
    [{ 'Content-Digest': undefined }, 'UNAUTHENTICATED', /^Content-Digest must be sha-256=/],
    [{ 'Content-Digest': digest }, 'INVALID_SIGNATURE', /^Content-Digest is not the SHA-256/],
    [changed('svc=', 'sig1='), 'UNAUTHENTICATED', /label svc$/],
    [changed('"@method" "@path"', '"@path" "@method"'), 'UNAUTHENTICATED', /must cover .*, in this order$/],
    [changed(';alg="ed25519"', ''), 'UNAUTHENTICATED', /must have created=.*keyid=.*alg=/],
    [changed(';alg', `;nonce="${'x'.repeat(200)}";alg`), 'UNAUTHENTICATED', /longer than 256 characters$/],
    [changed(/created=\d+/, 'created=1700000000'), 'CLOCK_SKEW', /^request timestamp outside allowed skew$/],
    [changed(session.publicKey, 'ab'.repeat(32)), 'UNAUTHENTICATED', /^This public key has no session/],
    [{ Signature: 'svc=x' }, 'UNAUTHENTICATED', /^Signature must be svc=:<base64>:/],
    [{ Signature: 'svc=:AAAA:' }, 'INVALID_SIGNATURE', /^Signature must be 64 bytes/],
    [{ Signature: `svc=:${Buffer.alloc(64).toString('base64')}:` }, 'INVALID_SIGNATURE', /^Signature rejected: /],
  ])
})
