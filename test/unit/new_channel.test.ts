/** Promise: a channel is its declaration alone. The README's example is taken as it stands there, trades pass it, and it is described. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { EventType, FILL } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import type { Gateway } from '../../gateway/context.ts'
import { createStreamsDocument } from '../../gateway/docs/streams/document.ts'
import type { ServedDeclaration } from '../../gateway/ws/channels/channel.ts'
import { DECLARATIONS } from '../../gateway/ws/channels/index.ts'

const folder = join(import.meta.dirname, '..', '..', 'gateway')
const section = readFileSync(join(folder, 'README.md'), 'utf8').split('## A new channel')[1]!
const source = /```ts\n(.*?)```/s.exec(section)![1]!
  .replaceAll("'./", `'${folder}/ws/channels/`).replaceAll("'../../../", `'${join(folder, '..')}/`)
  .replaceAll("'../../", `'${folder}/`).replaceAll("'../", `'${folder}/ws/`)
  .replaceAll("'typebox'", `'${join(folder, '..', 'node_modules', 'typebox', 'build', 'index.mjs')}'`)
const file = join(t.testdir({ 'trade_count.ts': source }), 'trade_count.ts')
const { TRADE_COUNT } = (await import(file)) as { TRADE_COUNT: ServedDeclaration }

t.test('it tells what happens', async (t) => {
  const channel = TRADE_COUNT.create({ now: () => 0, pairs: new Map() } as unknown as Gateway)
  const heard: object[] = []
  const subscriber = { account: -1, push: (frame: unknown) => void heard.push(JSON.parse(String(frame)) as object) }
  t.strictSame(channel.read({ other: 1 }), {}, 'unknown fields are ignored')
  t.ok(channel.subscribe(subscriber, {}))
  const views = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(FILL, views, 0, { kind: EventType.FILL, sequence: 7 })
  channel.take(views, 0)
  channel.flush(1)
  channel.flush(1)
  const timestamp = '1970-01-01T00:00:00.000Z'
  t.strictSame(heard, [
    { channel: 'tradeCount', type: 'snapshot', timestamp, data: { trades: 0 } },
    { channel: 'tradeCount', type: 'trade_count_update', sequence: 7, timestamp, data: { trades: 1 } },
  ])
})

t.test('it is described', async (t) => {
  const document = createStreamsDocument([...DECLARATIONS, TRADE_COUNT]) as { [part: string]: { [name: string]: object } }
  t.match(document['channels']!['tradeCount'], { summary: 'How many trades there were.', 'x-access': 'public' })
  const { messages } = document['components'] as unknown as { messages: { [name: string]: object } }
  t.match(messages['tradeCount.subscribe'], { examples: [{ payload: { type: 'subscribe', channel: 'tradeCount', params: {} } }] })
  t.match(messages['tradeCount.trade_count_update'], {
    payload: {
      required: ['channel', 'type', 'sequence', 'timestamp', 'data'],
      properties: {
        sequence: { description: 'Number of the last command that is in the frame.' },
        data: { properties: { trades: { type: 'integer', description: 'Trades of all pairs since the gateway started.' } } },
      },
    },
    examples: [{ payload: { sequence: 43, data: { trades: 43 } } }],
  })
})

t.test('it parses as TypeScript', async (t) => {
  const { diagnostics } = ts.transpileModule(source, { reportDiagnostics: true, compilerOptions: { module: ts.ModuleKind.ESNext } })
  t.strictSame(diagnostics, [])
})

t.test('every file of a channel has its line', async (t) => {
  const channels = join(folder, 'ws', 'channels')
  const files = globSync('*.ts', { cwd: channels }).filter((name) => /= channel\(\{/.test(readFileSync(join(channels, name), 'utf8')))
  const lines = readFileSync(join(channels, 'list.ts'), 'utf8').matchAll(/^export \{ (\w+) \} from '\.\/(\w+\.ts)'$/gm)
  t.strictSame([...lines].map(([, , name]) => name).sort(), files.sort())
  t.equal(DECLARATIONS.length, files.length)
  const names = DECLARATIONS.map(({ name, access }) => `${access === 'public' ? 0 : 1} ${name}`)
  t.strictSame(names, [...names].sort(), 'the public ones first, by name')
})
