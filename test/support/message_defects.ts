/**
 * Every way a message signature (RFC 9421) can be wrong or be written otherwise, for one request, and the code it must get. Wrong
 * requests are signed as they are written, so that each is refused for the one thing that is wrong with it.
 */
import { sign } from 'node:crypto'
import { signed, type Headers, type Session, type DeadSessions } from './gateway_harness.ts'
import { digestOf, headersOf, parametersOf, partsOf, signatureOf, unixSeconds, type Parts } from './message_signature.ts'
import { malleated, type Sample } from './session_samples.ts'

/** The session whose requests are served, another one, and those whose are refused. */
export interface Signers extends DeadSessions {
  readonly session: Session
  readonly other: Session
}

/** Headers in their order, where one comes twice. */
export type HeaderPairs = [string, string][]
/** Name, headers, code; without one it is UNAUTHENTICATED. */
export type Defect = [name: string, headers: Headers | HeaderPairs, code?: string]
/** The inner list of covered components. */
export const LIST = '("@method" "@path" "@query" "content-digest")'
const COMPONENTS = ['@method', '@path', '@query', 'content-digest']
export const INVALID = 'INVALID_SIGNATURE'

/** Headers of one sample with something else in their parts than is right. */
type Make = (over?: Partial<Parts> | ((right: Parts) => Partial<Parts>)) => Headers

function maker({ row, target, body }: Sample, by: Session): Make {
  return (over = {}) => {
    const right = partsOf(by, row.method, target, body)
    return headersOf({ ...right, ...(typeof over === 'function' ? over(right) : over) })
  }
}

/** One thing written otherwise; signed as it is written, and as a reader that writes it anew before it verifies would have it. */
function written(make: Make, name: string, over: { list?: string; parameters?: (right: string) => string }): Defect[] {
  const change = (right: Parts): Partial<Parts> => ({ list: over.list ?? LIST, parameters: (over.parameters ?? String)(right.parameters) })
  return [
    [`${name}, signed as sent`, make(change)],
    [`${name}, signed as it should be`, make((right) => ({ ...change(right), signedParameters: LIST + right.parameters }))],
  ]
}

function missing(make: Make): Defect[] {
  const good = make()
  const names = Object.keys(good)
  return [
    ['no headers', {}],
    ...names.flatMap((name): Defect[] => [
      [`without ${name}`, Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))],
      [`only ${name}`, { [name]: good[name]! }],
      [`${name} empty`, { ...good, [name]: '' }],
      [`${name} twice`, [...Object.entries(good), [name, good[name]!]]],
      [`${name} twice, first empty`, [[name, ''], ...Object.entries(good)]],
      [`${name} twice in one line`, { ...good, [name]: `${good[name]}, ${good[name]}` }],
    ]),
  ]
}

function labels(make: Make): Defect[] {
  const good = make()
  const second = make({ label: 'other' })
  const both = (first: Headers, then: Headers): Headers => ({
    ...good,
    'Signature-Input': `${first['Signature-Input']}, ${then['Signature-Input']}`,
    Signature: `${first['Signature']}, ${then['Signature']}`,
  })
  return [
    ...['sig1', 'SVC', 'svc2', 'sv', 'Svc', '*svc', ''].map((label): Defect => [`label '${label}'`, make({ label })]),
    ['another label in Signature', { ...good, Signature: second['Signature']! }],
    ['another label in Signature-Input', { ...good, 'Signature-Input': second['Signature-Input']! }],
    ['two labels', both(good, second)],
    ['two labels, ours last', both(second, good)],
    ['two labels in Signature-Input', { ...good, 'Signature-Input': both(good, second)['Signature-Input']! }],
    ['two labels in Signature', { ...good, Signature: both(good, second)['Signature']! }],
  ]
}

function components(make: Make, { row }: Sample): Defect[] {
  const covering = (...list: string[]): Headers => make({ components: list })
  const value = (name: string, text: string): Defect =>
    [`${name} signed as '${text}'`, make(({ values }) => ({ values: { ...values, [name]: text } })), INVALID]
  return [
    ...COMPONENTS.map((left): Defect => [`${left} not covered`, covering(...COMPONENTS.filter((name) => name !== left))]),
    ...['@authority', '@target-uri', '@request-target', 'content-type', '@query-param', '@status'].flatMap((name): Defect[] => [
      [`${name} covered too`, covering(...COMPONENTS, name)],
      [`${name} covered first`, covering(name, ...COMPONENTS)],
    ]),
    ['nothing covered', covering()],
    ['components in another order', covering('@path', '@method', '@query', 'content-digest')],
    ['components backwards', covering(...[...COMPONENTS].reverse())],
    ['a component twice', covering(...COMPONENTS, '@path')],
    ['@request-target for path and query', covering('@method', '@request-target', 'content-digest')],
    ...([
      ['"@method"', '"@method";req'], ['"content-digest"', '"content-digest";sf'], ['"content-digest"', '"content-digest";bs'],
      ['"@query"', '"@query-param";name="page"'], ['"content-digest"', '"content-digest";key="sha-256"'],
      ['"@method"', '"@METHOD"'], ['"content-digest"', '"Content-Digest"'], ['"@path"', '@path'], ['"@method"', '"@meth\\od"'],
      ['"@method"', "'@method'"],
    ] as const).flatMap(([from, to]) => written(make, `component ${to}`, { list: LIST.replace(from, to) })),
    value('@method', row.method.toLowerCase()),
    value('@method', row.method === 'GET' ? 'POST' : 'GET'),
    value('@path', '/api/v1/accounts/you'),
    value('@path', '/'),
    value('@query', ''),
    value('@query', '?page=1'),
    value('@query', '??'),
    value('content-digest', digestOf('another body')),
  ]
}

function times(make: Make, _: Sample, { session }: Signers): Defect[] {
  const now = unixSeconds()
  const created = (text: string | number): Headers => make({ parameters: parametersOf(session.publicKey, text) })
  return [
    ['created missing', make(({ parameters }) => ({ parameters: parameters.replace(/;created=\d+/, '') }))],
    ['created without a value', make(({ parameters }) => ({ parameters: parameters.replace(/=\d+/, '') }))],
    ...[
      `${now}.0`, `"${now}"`, `-${now}`, `+${now}`, `0${now}`, `${now}e0`, `@${now}`, `:${now}:`, `0x${now.toString(16)}`, '', '?1',
      `${now}n`,
      '1'.repeat(16), '9'.repeat(20), ` ${now}`, `${now} `, '१७००००००००', `(${now})`, `${now}_`,
    ].map((text): Defect => [`created=${text}`, created(text)]),
    ...[now - 31, now + 32, now * 1000, 0, 1, 999_999_999_999_999].map((text): Defect => [`created=${text}`, created(text), 'CLOCK_SKEW']),
    ['another created than signed', make(({ parameters }) => ({
      parameters: parametersOf(session.publicKey, now - 1), signedParameters: LIST + parameters,
    })), INVALID],
  ]
}

function keys(make: Make, sample: Sample, { session, other, ...dead }: Signers): Defect[] {
  const key = session.publicKey
  const text = (value: string): Headers =>
    make(({ parameters }) => ({ parameters: parameters.replace(/keyid="\w+"/, value === '' ? 'keyid' : `keyid=${value}`) }))
  const quoted = (value: string): Headers => text(`"${value}"`)
  return [
    ['keyid missing', make(({ parameters }) => ({ parameters: parameters.replace(/;keyid="\w+"/, '') }))],
    ...[
      '', key, `"${key}`, `'${key}'`, `:${Buffer.from(key, 'hex').toString('base64')}:`, '""', `"${key.slice(1)}"`, `"${key}0"`,
      `"0x${key}"`,
      `"${key.toUpperCase()}"`, `" ${key}"`, `"\\${key}"`, `"${'g'.repeat(64)}"`, `"${key}";x`, `"${'a'.repeat(8000)}"`,
    ].map((value): Defect => [`keyid=${value.slice(0, 80)}`, text(value)]),
    ['never registered key', quoted('ab'.repeat(32))],
    ['all-zero key', quoted('0'.repeat(64))],
    ['another session\'s key', quoted(other.publicKey), INVALID],
    ['signed by another session', make({ key: other.privateKey }), INVALID],
    ...Object.entries(dead).map(([name, by]): Defect => [`${name} session`, maker(sample, by)(), 'SESSION_INVALID']),
  ]
}

function parameters(make: Make, _: Sample, { session }: Signers): Defect[] {
  const now = unixSeconds()
  const more = (text: string): Headers => make((right) => ({ parameters: right.parameters + text }))
  const instead = (from: RegExp, text: string): Headers => make((right) => ({ parameters: right.parameters.replace(from, text) }))
  const algorithm = /;alg="ed25519"/
  const own = { created: /;created=\d+/, keyid: /;keyid="\w+"/, alg: algorithm }
  return [
    ...[
      `;expires=${now + 60}`, ';nonce="n"', ';tag="svc"', ';x', ';x=1', `;created=${now}`, `;keyid="${session.publicKey}"`,
      ';alg="ed25519"',
    ].flatMap((text): Defect[] => [
      [`parameter ${text} too`, more(text)],
      ...Object.entries(own).filter(([name]) => !text.startsWith(`;${name}`))
        .map(([name, from]): Defect => [`parameter ${text} instead of ${name}`, instead(from, text)]),
    ]),
    ['no parameters', make({ parameters: '' })],
    ['alg missing', instead(algorithm, '')],
    ...[
      '"ed25519-ph"', '"ED25519"', '"hmac-sha256"', '"rsa-pss-sha512"', '"none"', '""', 'ed25519', ':ZWQyNTUxOQ==:', '"ed25519',
      '"ed2551\\9"',
    ].map((text): Defect => [`alg=${text}`, instead(algorithm, `;alg=${text}`)]),
  ]
}

/** Other writings of what the profile says; structured fields allow some of them. */
function writings(make: Make): Defect[] {
  const good = make()
  const list = (name: string, text: string): Defect[] => written(make, name, { list: text })
  const by = (name: string, change: (right: string) => string): Defect[] => written(make, name, { parameters: change })
  return [
    ...list('space after (', LIST.replace('(', '( ')),
    ...list('space before )', LIST.replace(')', ' )')),
    ...list('two spaces', LIST.replace(' ', '  ')),
    ...list('tab between', LIST.replace(' ', '\t')),
    ...list('commas between', LIST.replaceAll(' ', ',')),
    ...list('no spaces', LIST.replaceAll(' ', '')),
    ...list('no list', '"@method"'),
    ...list('list of lists', `(${LIST})`),
    ...list('list left open', LIST.slice(0, -1)),
    ...list('a comment', LIST.replace('(', '(; comment ')),
    ...by('space after ;', (text) => text.replaceAll(';', '; ')),
    ...by('space before ;', (text) => text.replaceAll(';', ' ;')),
    ...by('tab after ;', (text) => text.replaceAll(';', ';\t')),
    ...by('spaces around =', (text) => text.replaceAll('=', ' = ')),
    ...by('commas for ;', (text) => text.replaceAll(';', ',')),
    ...by('; at the end', (text) => `${text};`),
    ...by(', at the end', (text) => `${text},`),
    ...by('two ;', (text) => text.replace(';', ';;')),
    ...by('a comment', (text) => `${text} (comment)`),
    ...by('names in upper case', (text) => text.replace('created', 'Created')),
    ...by('text behind', (text) => `${text}x`),
    ...by('text before', (text) => `x${text}`),
    ...by('a space before', (text) => ` ${text}`),
    ['spaces around = of the label', { ...good, 'Signature-Input': good['Signature-Input']!.replace('svc=', 'svc = ') }],
    ['a comma first', { ...good, 'Signature-Input': `,${good['Signature-Input']}` }],
    ['Signature with a parameter', { ...good, Signature: `${good['Signature']};x` }],
    ['Signature with a comma', { ...good, Signature: `${good['Signature']},` }],
    ['Signature with a space after =', { ...good, Signature: good['Signature']!.replace('=', '= ') }],
  ]
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** The same bytes as `text`, base64 with padding, with a bit set where no byte is. */
function withLooseBits(text: string): string {
  const at = text.indexOf('=') - 1
  return text.slice(0, at) + ALPHABET[ALPHABET.indexOf(text[at]!) + 1]! + text.slice(at + 1)
}

function signatures(make: Make, { row, target, body }: Sample, { session }: Signers): Defect[] {
  const good = make()
  const text = good['Signature']!.slice('svc=:'.length, -1)
  const bytes = Buffer.from(text, 'base64')
  const put = (name: string, encoded: string, code = 'UNAUTHENTICATED'): Defect => [name, { ...good, Signature: `svc=${encoded}` }, code]
  const of = (name: string, change: Buffer): Defect => put(name, `:${change.toString('base64')}:`, INVALID)
  const timestamp = String(Date.now())
  const legacy = signed(session, row.method, target, body, timestamp)
  return [
    put('quoted', `"${text}"`),
    put('bare', text),
    put('one colon', `:${text}`),
    put('space inside', `:${text.slice(0, 9)} ${text.slice(9)}:`),
    put('other alphabet', `:-_${text.slice(2)}:`),
    put('in a list', `(:${text}:)`),
    put('hex', `:${bytes.toString('hex')}:`, INVALID),
    put('no padding', `:${text.replaceAll('=', '')}:`, INVALID),
    put('less padding', `:${text.slice(0, -1)}:`, INVALID),
    put('more padding', `:${text}=:`, INVALID),
    put('padding inside', `:${text.slice(0, 44)}==${text.slice(46)}:`, INVALID),
    put('loose bits', `:${withLooseBits(text)}:`, INVALID),
    put('no bytes', '::', INVALID),
    of('63 bytes', bytes.subarray(0, 63)),
    of('65 bytes', Buffer.concat([bytes, Buffer.from([0])])),
    of('zeros', Buffer.alloc(64)),
    of('S + L', malleated(bytes)),
    of('another R', Buffer.concat([Buffer.from([bytes[0]! ^ 1]), bytes.subarray(1)])),
    of('of the legacy text', Buffer.from(legacy['X-Svc-Signature']!, 'hex')),
    of('of nothing', sign(null, Buffer.alloc(0), session.privateKey)),
  ].map(([name, ...rest]): Defect => [`Signature: ${name}`, ...rest])
}

function digests(make: Make, { body }: Sample): Defect[] {
  const right = digestOf(body)
  const long = digestOf(body, 'sha512')
  const encoded = right.slice('sha-256=:'.length, -1)
  const put = (digest: string, code = 'UNAUTHENTICATED'): Defect =>
    [`Content-Digest: ${digest}`, make(({ values }) => ({ digest, values: { ...values, 'content-digest': digest } })), code]
  return [
    ...[
      long, `${right}, ${long}`, `${long}, ${right}`, `${right}, ${right}`, `${right},`, `,${right}`, `${right};x`,
      right.replace('=', ' = '),
      right.toUpperCase(), `SHA-256=:${encoded}:`, `SHA-256=${encoded}`, `sha-256="${encoded}"`, `sha-256=${encoded}`,
      `sha-256=:${encoded}`,
      `sha-256=:${encoded.slice(0, -1)}:`, `sha-256=:${encoded}=:`, 'sha-256=::', 'sha-256', `md5=:${encoded}:`, `unixsum=30637`,
      `sha-256=:${Buffer.from(encoded, 'base64').toString('hex')}:`, `(sha-256=:${encoded}:)`,
    ].map((digest) => put(digest)),
    put(`sha-256=:${withLooseBits(encoded)}:`, INVALID),
    put(digestOf(`${body} `), INVALID),
    put(digestOf('another body'), INVALID),
    put(`sha-256=:${Buffer.alloc(32).toString('base64')}:`, INVALID),
    ['Content-Digest is not the one that was signed', { ...make(), 'Content-Digest': digestOf('another body') }, INVALID],
  ]
}

function mixtures(make: Make, { row, target, body }: Sample, { session }: Signers): Defect[] {
  const good = make()
  const legacy = signed(session, row.method, target, body)
  const broken = { 'Signature-Input': 'svc=()', Signature: 'svc=::' }
  return [
    ...[...Object.keys(legacy), 'X-Svc-Anything', 'x-svc-timestamp'].map((name): Defect =>
      [`with ${name}`, { ...good, [name]: legacy[name] ?? 'x' }, 'MIXED_CREDENTIALS']),
    ['with all legacy headers', { ...good, ...legacy }, 'MIXED_CREDENTIALS'],
    ...Object.entries(broken).map(([name, value]): Defect => [`legacy with ${name}`, { ...legacy, [name]: value }, 'MIXED_CREDENTIALS']),
    ['legacy with empty Signature', { ...legacy, Signature: '' }, 'MIXED_CREDENTIALS'],
    ['broken, with a right legacy request', { ...legacy, ...broken, 'Content-Digest': good['Content-Digest']! }, 'MIXED_CREDENTIALS'],
    ['legacy headers with the bytes of this signature', {
      ...legacy, 'X-Svc-Signature': signatureOf(partsOf(session, row.method, target, body)).toString('hex'),
    }, INVALID],
  ]
}

const GROUPS = [missing, labels, components, times, keys, parameters, writings, signatures, digests, mixtures]

/** All of them for one sample. */
export function messageDefects(sample: Sample, signers: Signers): Defect[] {
  const make = maker(sample, signers.session)
  return GROUPS.flatMap((group) =>
    group(make, sample, signers).map(([name, headers, code = 'UNAUTHENTICATED']): Defect => [`${group.name}, ${name}`, headers, code]))
}
