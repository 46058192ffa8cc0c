/**
 * Promise: whatever the exchange process writes, the log stays one JSON object a line: log lines pass unchanged, text of
 * native code becomes a log line of its own, in front of the log line it was glued to, and its length is bounded.
 */
import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { createLines, LINE_BYTES, TEXT_LENGTH, type Lines } from '../../core/supervisor/lines.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/unit/supervisor_lines.test.ts`)

interface Written {
  readonly lines: Lines
  readonly raw: string[]
  readonly heard: string[]
  readonly events: EventEmitter
  /** Messages of log lines, and texts. */
  said(): string[]
}

function open(): Written {
  const [raw, heard, events] = [[] as string[], [] as string[], new EventEmitter()]
  const write = (line: string): void => {
    raw.push(line)
    events.emit('line')
  }
  const said = (): string[] => raw.map((line) => {
    const { msg, text } = JSON.parse(line) as { msg: string; text?: string }
    return text ?? msg
  })
  return { lines: createLines('stderr', write, (text) => heard.push(text)), raw, heard, events, said }
}
const logged = (msg: string): string => `{"level":"info","service":"ringbook","msg":"${msg}"}\n`

t.test('log lines pass byte for byte, however they are cut into pieces', async (t) => {
  const random = createPrng(SEED)
  const all = Buffer.from(Array.from({ length: 200 }, (_, i) => logged(`line ${i} häß€`)).join(''))
  const { lines, raw } = open()
  for (let at = 0; at < all.length; ) {
    const bytes = 1 + random.below(90)
    lines.take(all.subarray(at, at + bytes))
    at += bytes
  }
  lines.end()
  t.equal(raw.join(''), all.toString())
})

t.test('text becomes a log line, and what it was glued to stays one', async (t) => {
  const { lines, said, raw } = open()
  lines.take(Buffer.from(`${logged('a')}mdb_env_sync: Input/output error${logged('b')}text {"level":"x"\n${logged('c')}`))
  lines.end()
  t.same(said(), ['a', 'mdb_env_sync: Input/output error', 'b', 'text {"level":"x"', 'c'])
  t.match(JSON.parse(raw[1]!), { level: 'warn', service: 'ringbook', stream: 'stderr' })
})

t.test('lines that come together are one log line: a stack is', async (t) => {
  const { lines, said, heard } = open()
  lines.take(Buffer.from('Error: no\n    at a\n    at b\n\n'))
  lines.end()
  t.same(said(), ['Error: no\n    at a\n    at b'])
  t.match(heard.join(''), 'at b')
})

t.test('half a line is written although its end never comes', async (t) => {
  const { lines, said, events } = open()
  const line = once(events, 'line')
  lines.take(Buffer.from('half'))
  await line
  t.same(said(), ['half'])
  lines.take(Buffer.from(logged('a')))
  t.same(said(), ['half', 'a'])
})

t.test('length is bounded', async (t) => {
  const { lines, raw } = open()
  const piece = Buffer.alloc(1 << 16, 'x')
  for (let at = 0; at < 4 * LINE_BYTES; at += piece.length) lines.take(piece)
  lines.end()
  t.ok(raw.length >= 3 && raw.every((line) => JSON.parse(line).text.length <= TEXT_LENGTH + 4), `${raw.length} lines`)
})
