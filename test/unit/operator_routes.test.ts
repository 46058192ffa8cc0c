/**
 * Promise: every route of the operator's port is declared once, and what derives from that is whole: it has a command or
 * says why not, its example is one its schemas take, help's examples parse to such an input and print such an answer,
 * and its document names it.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import t from 'tap'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { UsageError, type Command } from '../../gateway/operator/command.ts'
import { parseCommand } from '../../gateway/operator/command_words.ts'
import { COMMANDS } from '../../gateway/operator/commands.ts'
import { createDocument } from '../../gateway/operator/document.ts'
import { respond } from '../../gateway/operator/http.ts'
import { AddAsset, AddPair, SetTerms } from '../../gateway/operator/listing.ts'
import { SetPairStatus } from '../../gateway/operator/policy.ts'
import { operatorRoute, type OperatorContext, type OperatorRoute } from '../../gateway/operator/route.ts'
import { commandsOf, valueOf } from '../../gateway/operator/route_command.ts'
import { DECLARED, needsToken } from '../../gateway/operator/routes.ts'
import { handlerOf } from '../../gateway/operator/serve.ts'
import { Refused } from '../../gateway/refused.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

/** What a command asks when it is typed as its example says, answered with the example of its route. */
async function asked({ example: [call] }: Command, answer: unknown): Promise<[path: string, body: object | undefined, text: string]> {
  const { command, parameters, options } = parseCommand(COMMANDS, call.split(' | ')[0]!.split(' '))
  const questions: [string, object | undefined][] = []
  const { text } = await command.run((path, body) => {
    questions.push([path, body])
    const json = typeof answer === 'string' ? null : answer as Record<string, unknown>
    return Promise.resolve({ status: 200, text: String(answer), json })
  }, parameters, options)
  return [...questions[0]!, text]
}

for (const { name, route } of DECLARED) {
  t.test(name, async (t) => {
    t.equal(route.check(route.example.input), null, 'the example is an input')
    t.ok(Compile(route.output).Check(route.example.output), 'and has an answer')
    t.equal(needsToken(route.method, route.path), route.token)
    t.ok(route.token || route.method === 'GET', 'what changes something needs the token')
    if (typeof route.commands === 'string') return t.ok(route.commands.length > 10, 'it says why there is no command')
    t.ok(route.commands.length > 0)
    for (const command of commandsOf(route)) {
      t.ok(COMMANDS.some(({ name }) => name === command.name), 'the command line has it')
      const [path, body, text] = await asked(command, route.example.output)
      t.ok(text.includes(command.example[1]), `it prints as help says: ${text}`)
      t.equal(path.split('?')[0], route.path)
      const query = Object.fromEntries(new URLSearchParams(path.split('?')[1] ?? ''))
      if (route.method === 'POST') t.equal(route.check(body), null, JSON.stringify(body))
      else t.same([body, Object.keys(query).every((field) => field in (route.query?.properties ?? {}))], [undefined, true])
    }
  })
}

t.test('a call is read by the options of its own command, whatever another command calls by the same name', (t) => {
  const forceOf = (...words: string[]): unknown => parseCommand(COMMANDS, words).options['force']
  for (const [typed, force] of [
    [['--force', 'true'], 'true'], [['--force=true'], 'true'], [['--force'], 'true'], [[], undefined],
  ] as const) {
    t.equal(forceOf('perps', 'price', 'BTC/USDC-PERP', '65000', ...typed), force, typed.join(' '))
  }
  t.equal(forceOf('perps', 'price', '--force', 'BTC/USDC-PERP', '65000'), 'true')
  t.equal(forceOf('prices', 'replay', 'btc.csv', '--force'), true)
  t.throws(() => forceOf('prices', 'replay', 'btc.csv', '--force', 'true'), UsageError)
  t.throws(() => forceOf('perps', 'list', '--force'), UsageError)
  t.end()
})

t.test('each path and method, and each command, is declared once', async (t) => {
  const routes = DECLARED.map(({ route }) => `${route.method} ${route.path}`)
  t.equal(new Set(routes).size, routes.length)
  t.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length)
})

interface Described {
  readonly operationId: string
  readonly security: readonly object[]
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: object }
}

t.test('of one word, what looks stands before what changes; an exchange that is not ready is no good answer', async (t) => {
  const maintenance = COMMANDS.map(({ name }) => name).filter((name) => name.startsWith('maintenance '))
  t.same(maintenance, ['maintenance show', 'maintenance on', 'maintenance off'])
  const answer = { ready: false, matcher: true, gateways: [true, false], degraded: [] }
  const ready = COMMANDS.find(({ name }) => name === 'ready')!
  const shown = await ready.run(() => Promise.resolve({ status: 503, text: '', json: answer }), [], {})
  t.same(shown, { json: answer, text: 'NOT ready: gateway 2', good: false })
})

t.test('the document has all of them, every field with its meaning', async (t) => {
  const document = createDocument(DECLARED) as unknown as Document
  for (const { name, route } of DECLARED) {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()]
    t.equal(operation?.operationId, name)
    t.equal(operation!.security.length, route.token ? 1 : 0, name)
    const { otherStatus: other } = route
    if (other !== null) t.equal(operation!.responses[other.status]?.description, other.means, name)
  }
  const wordless: string[] = []
  const walk = (schema: unknown, at: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { properties = {} } = schema as { properties?: Record<string, { description?: string }> }
    for (const [field, property] of Object.entries(properties)) if (property.description === undefined) wordless.push(`${at}.${field}`)
    for (const [key, part] of Object.entries(schema)) if (key !== 'example') walk(part, `${at}/${key}`)
  }
  walk(document, '')
  t.same(wordless, [])
  const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!)
  t.ok(references.length > 0 && references.every((name) => name in document.components.schemas))
})

const Echo = operatorRoute({
  method: 'POST', path: '/echo', token: true, summary: 'Says it again', description: '', refusals: [],
  body: Type.Object({ word: Type.Enum(['YES', 'NO']), count: Type.Optional(Type.Integer({ minimum: 0, maximum: 9 })) }),
  output: Type.Object({ word: Type.String() }),
  example: { input: { word: 'YES' }, output: { word: 'YES' } }, commands: 'a route of this test only',
  run: (_context, { word }) => ({ word }),
})
const Asked = operatorRoute({
  method: 'GET', path: '/asked', token: false, summary: 'Counts', description: '', refusals: [],
  query: Type.Object({ top: Type.Integer({ minimum: 1, maximum: 9 }) }), output: Type.Object({ top: Type.Integer() }),
  example: { input: { top: 1 }, output: { top: 1 } }, commands: 'a route of this test only',
  otherStatus: { status: 503, means: 'All of them', when: ({ top }) => top === 9 }, run: (_context, { top }) => ({ top }),
})

t.test('an input is checked as the public interface checks it', async (t) => {
  const context = {} as OperatorContext
  const routes: Readonly<Record<string, OperatorRoute>> = { '/echo': Echo, '/asked': Asked }
  const route = async (request: IncomingMessage) => handlerOf(routes[request.url!.split('?')[0]!]!, context)(request)
  const server = createServer((request, response) => void respond(request, response, route, (error) => t.fail(String(error))))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const post = async (body: unknown, type = 'application/json'): Promise<unknown[]> => {
    const answer = await fetch(`${at}/echo`, { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) })
    const { code, message, details, word } = await answer.json() as Record<string, unknown>
    return answer.status === 200 ? [200, word] : [answer.status, code, message, details]
  }
  const wrong = (message: string, field: string): unknown[] => [400, 'VALIDATION_ERROR', message, { field }]
  t.same(await post({ word: 'YES', count: null, more: 1 }), [200, 'YES'], 'null is absent, what is not known is ignored')
  t.same(await post({}), wrong('word is required', 'word'))
  t.same(await post({ word: null }), wrong('word is required', 'word'))
  t.same(await post({ word: 'MAYBE' }), wrong('word must be one of YES, NO', 'word'))
  t.match(await post({ word: 'NO', count: 10 }), [400, 'VALIDATION_ERROR', /^count must be <= 9$/, { field: 'count' }])
  t.match(await post({ word: 'NO' }, 'text/plain'), [400, 'MALFORMED_REQUEST'])
  t.match(await post([]), [400, 'MALFORMED_REQUEST'], 'no object')
  const get = async (query: string): Promise<unknown[]> => {
    const answer = await fetch(`${at}/asked${query}`)
    return [answer.status, await answer.json()]
  }
  t.same(await get('?top=3&other=1'), [200, { top: 3 }])
  t.same(await get('?top=9'), [503, { top: 9 }])
  for (const bad of ['', '?top=', '?top=x', '?top=1.5', '?top=10']) t.match(await get(bad), [400, { details: { field: 'top' } }], bad)
})

t.test('what is typed becomes what the schema asks for, or says what it is', async (t) => {
  const whole = Type.Integer({ minimum: 0, maximum: 18 }) as unknown as Parameters<typeof valueOf>[0]
  const says = (schema: unknown, text: string, must?: string): unknown => {
    try {
      return valueOf(schema as Parameters<typeof valueOf>[0], text, 'IT', must)
    } catch (error) {
      return error instanceof UsageError ? error.message : error
    }
  }
  t.equal(says(whole, '18'), 18)
  for (const text of ['19', '-1', '1.5', '1e1', '', ' 1', '0x1']) t.equal(says(whole, text), 'IT is a whole number from 0 to 18', text)
  t.equal(says(Type.Integer(), 'many', 'a number of the list'), 'IT is a number of the list')
  t.equal(says(Type.Boolean(), 'true'), true)
  t.equal(says(Type.Boolean(), 'yes'), 'IT is true or false')
  t.equal(says(Type.Enum(['YES', 'NO']), 'yes'), 'YES', 'choices in any case')
  t.equal(says(Type.Enum(['YES', 'NO']), 'x'), 'IT is one of YES, NO')
  t.equal(says(Type.String({ pattern: '^a$' }), 'b'), 'b', 'the form of a text is for the port to judge')
})

t.test('decimals that are no numbers of the engine are told by field, and nothing is sent', async (t) => {
  const assets: [string, number, string][] = [['A', 3, '1'], ['USD', 4, '1']]
  const pairs = [pairSpec('A/USD', { lotSize: '0.01', minOrderSize: '0.01', maxOrderSize: '20' })]
  const listed = createState(parseGenesis(genesisText({ limits: {}, dailyLimit: 1, assets, pairs })))
  const context = { state: listed, admin: { send: () => t.fail('sent') } } as unknown as OperatorContext
  const says = async (route: OperatorRoute, change: object): Promise<unknown> => {
    const input = { ...route.example.input, ...change }
    const answered = route.check(input) ?? await route.run(context, input as never)
    return answered instanceof Refused ? `${answered.message} ${JSON.stringify(answered.details)}` : answered
  }
  const visible = (bytes: number): string => `must be 1 to ${bytes} visible ASCII characters`
  const decimal = 'must be a decimal string, such as 12.5: at most 28 digits before the point and 18 behind it'
  const cases: (readonly [OperatorRoute, field: string, value: unknown, message: string])[] = [
    ...['A B', 'X'.repeat(17), 'A,B', '"><img', '__proto__', 'constructor', 'sol', 'A/B', 'A-B', '', 'É'].map((symbol) =>
      [AddAsset, 'symbol', symbol, 'must be 1 to 16 capital letters, digits and points'] as const),
    [AddAsset, 'token', '0x12', 'must be the address of a token: 0x and 40 hex digits'],
    [AddAsset, 'decimals', 19, 'must be <= 18'],
    [AddAsset, 'scale', 0.5, 'must be integer'],
    [AddAsset, 'faucetAmount', '1.0000000001', 'has more than 9 digits behind the point'],
    [AddAsset, 'faucetAmount', '9223372037', 'is out of range'],
    [AddPair, 'tickSize', '0', 'must be positive and at most 2147483647, when it has 0 digits'],
    [AddPair, 'tickSize', '-0.01', 'must be positive and at most 21474836.47, when it has 2 digits'],
    [AddPair, 'lotSize', '1e3', decimal],
    [AddPair, 'minOrderSize', '0.015', 'has more than 2 digits behind the point'],
    [AddPair, 'maxOrderSize', '0', 'must be a multiple of the lot, 0.02, and at most 42949672.94'],
    [AddPair, 'maxOrderSize', '1.01', 'must be a multiple of the lot, 0.02, and at most 42949672.94'],
    [AddPair, 'maxOrderSize', '42949672.96', 'must be a multiple of the lot, 0.02, and at most 42949672.94'],
    [AddPair, 'minNotional', '0.00001', 'has more than 4 digits behind the point'],
    [AddPair, 'makerFeeBps', '0.001', 'has more than 2 digits behind the point'],
    [AddPair, 'takerFeeBps', '10000.01', 'must be within 10000 basis points'],
    [AddPair, 'category', '', visible(16)],
    ...['AUSD', 'A/USD-PERP', 'a/USD', 'A/', '/USD', 'A/B/C', 'A,B/USD', `${'X'.repeat(17)}/USD`].map((symbol) =>
      [AddPair, 'symbol', symbol, 'must be BASE/QUOTE: twice 1 to 16 capital letters, digits and points'] as const),
    [SetTerms, 'maxOrderSize', 'many', decimal],
    [SetTerms, 'takerFeeBps', '-10000.01', 'must be within 10000 basis points'],
  ]
  const names = { base: 'A', quote: 'USD', pair: 'A/USD', lotSize: '0.02', minOrderSize: '0.02' }
  for (const [route, field, value, message] of cases) {
    t.equal(await says(route, { ...names, [field]: value }), `${field} ${message} ${JSON.stringify({ field })}`, `${field} ${value}`)
  }
  t.equal(await says(AddPair, { ...names, quote: 'EUR' }), 'Not found {"field":"quote"}')
  t.equal(SetPairStatus.check({ pair: 'AUSD', status: 'ACTIVE' }), null, 'a symbol that was listed before the grammar')
})
