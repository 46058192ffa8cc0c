/**
 * `POST /debug/signature`, on test nets only: what the gateway rebuilds from a request, and why its signature is
 * refused (auth/signature_debug.ts). It is no operation of the specification's list, so it stands beside the table:
 * {@link testnetOperations} is what the router has besides it, and nothing on an exchange without a faucet, where the
 * path is 404.
 *
 * Asked for are a public key and a signature, as they are sent with every request, and never a secret: headers that are
 * not signed are refused, and so are fields that it does not have. Nothing of a request is logged. It is bounded in
 * size, costs its client's share of the time of requests without a signature, and is asked {@link PER_SECOND} times a
 * second by an address.
 */
import Type from 'typebox'
import type { Genesis } from '../../core/state/genesis.ts'
import { createLimit, type Limit } from '../auth/challenge.ts'
import { contentDigest } from '../auth/rfc9421.ts'
import {
  DEBUG_PATH, examine, firstDifference, isFresh, isTestnet, SIGNED_HEADERS, type Examined, type SignedHeaders,
} from '../auth/signature_debug.ts'
import { FRESHNESS_MS } from '../auth/signed_request.ts'
import { networkOf } from '../limits/network.ts'
import { Refused, refusedField } from '../refused.ts'
import { operationsOf, type ServedOperation } from '../operations/index.ts'
import { operation } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'

/** Questions of one address, of each gateway thread. */
const PER_SECOND = 5
/** Characters of a body: a batch of 100 orders has 25,000. */
const BODY_CHARACTERS = 64 * 1024
const TEXT_CHARACTERS = 8 * 1024
/** Characters of JSON that a body may become, and all the rest. */
const REQUEST_BYTES = 6 * BODY_CHARACTERS + 64 * 1024

const perAddress: Limit = createLimit(PER_SECOND, Date.now)
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

export const DebugSignature = operation({
  service: 'AuthService', method: 'POST', path: DEBUG_PATH,
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Why a signature is refused',
  description: 'On test nets only. Takes a request as you believe you sent it and says what was signed, as the server rebuilds it, '
    + 'whether the signature is one of that, and what differs. Never send a secret key.',
  answer: 'What the server rebuilt.',
  refusals: ['RATE_LIMIT_EXCEEDED'],
  bodyMax: REQUEST_BYTES,
  body: Type.Object({
    method: field(Type.String({ minLength: 1, maxLength: 16 }), 'GET, POST ...; of gRPC POST, of order entry on a socket WS.'),
    target: field(
      Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS }),
      'Path and query as sent; of gRPC the path of the method, of order entry on a socket the type of the message.',
    ),
    headers: field(
      Type.Object({}, { additionalProperties: Type.String({ maxLength: 1024 }) }), 'X-Svc-* or those of RFC 9421, by name.',
    ),
    body: Type.Optional(field(Type.String({ maxLength: BODY_CHARACTERS }), 'The body as text.')),
    bodyBase64: Type.Optional(
      field(Type.String({ maxLength: BODY_CHARACTERS, pattern: BASE64.source }), 'Instead of `body`: its bytes in base64.'),
    ),
    signedText: Type.Optional(
      field(Type.String({ maxLength: TEXT_CHARACTERS }), 'What you signed, to be told the first line that differs.'),
    ),
  }, { additionalProperties: false }),
  output: Type.Object({
    protocol: field(Type.Union([Type.Literal('legacy'), Type.Literal('rfc9421')]), 'By the headers that came.'),
    valid: field(Type.Boolean(), 'The signature is of this request by this key. Its time is not looked at.'),
    fresh: field(Type.Boolean(), 'Its time is within 30 seconds of the server\'s.'),
    serverTime: field(Type.Integer(), 'Unix milliseconds.'),
    code: Type.Optional(field(Type.String(), 'The refusal of such a request; absent when it is valid and fresh.')),
    message: field(Type.String(), 'What is wrong, and what to do.'),
    signedText: field(Type.String(), 'The exact bytes that are verified.'),
    components: field(Type.Array(Type.String()), 'What its lines are.'),
    contentDigest: field(Type.String(), 'Content-Digest of the body.'),
    differs: Type.Optional(field(
      Type.Object({ component: field(Type.String(), 'Of the text.'), message: field(Type.String(), 'What was signed instead.') }),
      'What the signature is of instead, when that could be found.',
    )),
    firstDifference: Type.Optional(field(
      Type.Object({
        line: field(Type.Integer(), 'From 1.'), component: field(Type.String(), 'What the line is.'),
        expected: field(Type.String(), 'As the server has it.'), yours: field(Type.String(), 'As you signed it.'),
      }),
      'The first line in which your signedText is not the server\'s.',
    )),
  }),
  example: {
    input: {
      method: 'GET', target: '/api/v1/accounts/me?x=1', headers: {
        'X-Svc-PublicKey': 'ab'.repeat(32), 'X-Svc-Timestamp': '1700000000000', 'X-Svc-Signature': 'cd'.repeat(64),
      },
    },
    output: {
      protocol: 'legacy', valid: false, fresh: false, serverTime: 1_700_000_100_000, code: 'INVALID_SIGNATURE',
      message: 'Signed was the path without its query',
      signedText: 'GET\n/api/v1/accounts/me?x=1\n1700000000000\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      components: ['method', 'target', 'timestamp', 'body'],
      contentDigest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
      differs: { component: 'target', message: 'Signed was the path without its query' },
    },
  },
  run: (gateway, call, { method, target, headers, body, bodyBase64, signedText }) => {
    if (!perAddress.acquire(networkOf(call.ip()))) {
      const message = `Rate limit exceeded: ${PER_SECOND} a second from one address`
      return call.refuse(new Refused('RATE_LIMIT_EXCEEDED', message, { retryAfter: perAddress.retryAfter(), limit: PER_SECOND }))
    }
    const signed = headersOf(headers)
    if (signed instanceof Refused) return call.refuse(signed)
    if (body !== undefined && bodyBase64 !== undefined) return call.refuse(refusedField('bodyBase64', 'body or bodyBase64, not both'))
    const bytes = bodyBase64 === undefined ? Buffer.from(body ?? '', 'utf8') : Buffer.from(bodyBase64, 'base64')
    const examined = examine({ method, target, headers: signed, body: bytes })
    const now = gateway.now()
    const difference = signedText === undefined ? null : firstDifference(examined, signedText)
    call.answer({
      ...verdictOf(examined, now), protocol: examined.protocol, serverTime: now, signedText: examined.signedText,
      components: [...examined.components], contentDigest: contentDigest(bytes),
      ...(examined.differs === null ? {} : { differs: { ...examined.differs } }),
      ...(difference === null ? {} : { firstDifference: difference }),
    })
  },
})

/** The headers by their names in lower case; or the refusal of one that is not signed, or came twice. */
function headersOf(given: object): SignedHeaders | Refused {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given as Record<string, string>)) {
    const key = name.toLowerCase()
    if (!(SIGNED_HEADERS as readonly string[]).includes(key)) {
      return refusedField('headers', `headers may have ${SIGNED_HEADERS.join(', ')}; no other is signed`)
    }
    if (headers[key] !== undefined) return refusedField('headers', `headers has ${key} twice`)
    headers[key] = value.trim()
  }
  return headers
}

interface Verdict {
  valid: boolean
  fresh: boolean
  code?: string
  message: string
}

function verdictOf({ refused, differs, signedAt }: Examined, now: number): Verdict {
  const fresh = signedAt !== null && isFresh(signedAt, now)
  if (refused !== null) return { valid: false, fresh, code: refused.code, message: differs?.message ?? refused.message }
  if (fresh) return { valid: true, fresh, message: 'The signature is of this request' }
  const late = now - signedAt!
  const words = late > 0 ? `${late} ms before` : `${-late} ms after`
  const message = `The signature is of this request, but made ${words} the server's time: ${FRESHNESS_MS} ms are the most`
  return { valid: true, fresh, code: 'CLOCK_SKEW', message }
}

/** What is served beside the table of operations. */
export const testnetOperations = (genesis: Genesis): ServedOperation[] =>
  (isTestnet(genesis) ? operationsOf({ DebugSignature }) : [])
