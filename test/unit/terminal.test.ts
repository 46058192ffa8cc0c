/**
 * Promise: on a terminal the log is in words: a greeting that says where everything is, warnings and errors in one line
 * each, nothing of what is routine, and nothing that a terminal would obey. Into a pipe it is JSON, as before.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { isForPeople, logLine } from '../../core/supervisor/lines.ts'
import { Terminal, type Paint } from '../../core/supervisor/terminal.ts'
import { noTerminal, onTerminal } from '../support/pseudo_terminal.ts'

const plain: Paint = (_, text) => text
const loud: Paint = (style, text) => `<${style}>${text}</${style}>`
const open = (flags: readonly string[] = [], paint = plain): Terminal =>
  new Terminal(readConfig(flags, {}), paint, () => 2_440)
const entry = (level: string, msg: string, fields: object = {}): string =>
  JSON.stringify({ level, time: '2026-01-15T10:00:00.000Z', service: 'ringbook', ...fields, msg })
const READY = { host: '127.0.0.1', port: 8080, grpcPort: 9090, operatorPort: 9100, chainPort: 8545, sequence: 7 }
const RESUMED = { created: false, sequence: 1234 }

function greeting(flags: readonly string[], ready: object = {}, recovered: object = RESUMED): string {
  const terminal = open(['--data-dir', '/srv/ring', ...flags])
  t.equal(terminal.show(entry('info', 'recovered', recovered)), '')
  return terminal.show(entry('info', 'ready', { ...READY, ...ready }))
}

t.test('the greeting', async (t) => {
  t.equal(greeting([]), `
Ringbook is open: resumed at sequence 1,234, ready in 2.4 s

  REST       http://127.0.0.1:8080/api/v1
  WebSocket  ws://127.0.0.1:8080/ws
  gRPC       127.0.0.1:9090   plain HTTP/2
  Docs       http://127.0.0.1:8080/docs
  Operator   http://127.0.0.1:9100   npm run operator -- status --data-dir /srv/ring
  Chain      http://127.0.0.1:8545   for wallets that are contracts
  Data       /srv/ring

  Ctrl-C stops it in order. Settings: npm start -- --help. Log as JSON: npm start -- --log json

`)
  t.match(greeting([], {}, { created: true, sequence: 1 }), 'open: a new exchange, ready in 2.4 s')
  t.match(greeting([], { operatorPort: 1 }), 'status --data-dir /srv/ring --port 1\n')
  const own = open().show(entry('info', 'ready', READY))
  t.match(own, 'npm run operator -- status\n', 'the usual directory and port need not be named')
})

t.test('the greeting of other settings', async (t) => {
  const every = greeting(['--host', '0.0.0.0'], { host: '0.0.0.0' })
  t.match(every, 'http://127.0.0.1:8080/api/v1   and every other address of this machine')
  t.match(greeting([], { host: '::1' }), 'ws://[::1]:8080/ws')
  const tls = greeting(['--tls-cert', 'a', '--tls-key', 'b', '--grpc-cert', 'a', '--grpc-key', 'b'])
  const parts = ['https://127.0.0.1:8080/docs', 'wss://127.0.0.1:8080/ws', '127.0.0.1:9090   TLS']
  for (const part of parts) t.match(tls, part)
  t.notMatch(greeting([], { grpcPort: undefined }), 'gRPC')
  t.match(greeting([], { chainPort: undefined }), 'Chain      not open yet')
  for (const flags of [['--chain', '0'], ['--chain-rpc-url', 'http://127.0.0.1:1']]) {
    t.notMatch(greeting(flags, { chainPort: undefined }), 'Chain')
  }
})

t.test('what comes before and after it', async (t) => {
  const terminal = open()
  const show = (msg: string, fields: object = {}): string => terminal.show(entry('info', msg, fields))
  t.match(show('starting', { pid: 1, config: { port: 1 } }), /^Ringbook starts on \/.*data\/var \.\.\.\n$/)
  const progress = { stage: 'recovery', records: 1_200_000, perSecond: 9, secondsLeft: 3 }
  t.equal(show('replaying the journal', progress), '  reading the journal: 1,200,000 commands, 3 s left\n')
  t.match(show('replaying the journal', { ...progress, stage: 'history' }), 'making the history')
  const routine = ['history follower started', 'snapshot written', 'every invariant holds', 'the chain is open']
  for (const msg of routine) t.equal(show(msg, { pid: 2, sequence: 3 }), '', msg)
  const other = show('from now on the rules 4 are in force', { before: 3 })
  t.match(other, /^\d\d:\d\d:\d\d from now .* in force \(before: 3\)\n$/)
  t.equal(show('stopping', { cause: 'SIGINT' }), '\nStopping (SIGINT) ...\n')
  t.equal(show('stopped', { sequence: 4321 }), 'Stopped at sequence 4,321. Everything that was answered is on disk.\n')
  t.equal(show('stopped'), 'Stopped.\n')
})

t.test('warnings and errors', async (t) => {
  const terminal = open([], loud)
  const fields = { pid: 5, thread: 'matcher', free: 3, hint: 'make room' }
  const warning = terminal.show(entry('warn', 'room is short', fields))
  t.match(warning, /<\/dim> <yellow>warning <\/yellow>room is short<dim> \(free: 3, hint: make room\)<\/dim>\n$/)
  const error = terminal.show(entry('error', 'it ended', { reason: 'x' }))
  t.match(error, '<red>error </red>it ended<dim> (reason: x)</dim>')
  const refused = terminal.show(entry('fatal', 'port 8080 is in use', { code: 2 }))
  t.match(refused, /^<red>Ringbook does not start:<\/red> port 8080 is in use\n<dim>exit code 2: README.md/)
  terminal.show(entry('info', 'ready', READY))
  const ended = terminal.show(entry('fatal', 'the disk is gone', { code: 4 }))
  t.match(ended, 'Ringbook cannot go on:</red> the disk is gone\n')
  const long = open().show(entry('warn', 'x', { text: 'y'.repeat(5_000) }))
  t.ok(long.length < 500, 'no field fills the screen')
  const unread = new Terminal(null, plain, () => 0).show(logLine('fatal', { code: 2 }, 'configuration: --prot'))
  t.match(unread, 'Ringbook does not start: configuration: --prot\n', 'also of a configuration that cannot be read')
})

t.test('nothing that a terminal obeys', async (t) => {
  const evil = 'a\u001b]0;title\u0007b\r\u009bc\u202ed\n\te'
  for (const text of [
    open().show(entry('warn', evil, { field: evil, other: { deep: evil } })),
    open().show(entry('fatal', evil, { code: 2 })),
    open().show(entry('info', 'stopping', { cause: evil })),
    open().show(entry('info', 'ready', { ...READY, host: evil })),
  ]) {
    t.notMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
    t.match(text, /\\u001b\]0;title\\u0007b/)
  }
})

t.test('which form: asked for, or by where it goes', async (t) => {
  const forms: [log: string, terminal: boolean, people: boolean][] = [
    ['auto', true, true], ['auto', false, false], ['json', true, false], ['pretty', false, true], ['x', false, false],
  ]
  for (const [log, terminal, people] of forms) t.equal(isForPeople(log, terminal), people, `${log} ${terminal}`)
})

const SUPERVISOR = join(import.meta.dirname, '..', '..', 'core', 'supervisor', 'main.ts')
const MAIN = ['--disable-warning=ExperimentalWarning', SUPERVISOR]
// Whatever decides about colours of where this runs is left out; Node knows CI as a place without any.
const { NODE_OPTIONS: _, NO_COLOR: __, FORCE_COLOR: ___, CI: ____, ...BARE } = process.env

t.test('a configuration that is wrong, on a terminal and into a pipe', { skip: noTerminal() }, async (t) => {
  const cases: [flags: string[], environment: object, expected: RegExp][] = [
    [[], { TERM: 'xterm' }, /^\u001b\[31mRingbook does not start:\u001b\[39m configuration: .*--prot/],
    [[], { TERM: 'xterm', NO_COLOR: '1' }, /^Ringbook does not start: configuration: .*--prot/],
    [['--log', 'json'], {}, /^\{"level":"fatal"/],
    [['--log=json'], {}, /^\{"level":"fatal"/],
    [[], { RINGBOOK_LOG: 'json' }, /^\{"level":"fatal"/],
  ]
  const runs = cases.map(async ([flags, environment, expected]) => {
    const run = onTerminal([process.execPath, ...MAIN, ...flags, '--prot', '1'], { ...BARE, ...environment })
    t.equal(await run.ended, 2)
    t.match(run.output(), expected)
  })
  const piped = (...flags: string[]): string =>
    spawnSync(process.execPath, [...MAIN, ...flags, '--prot', '1'], { env: BARE, encoding: 'utf8' }).stdout
  t.match(JSON.parse(piped()), { level: 'fatal', code: 2 })
  t.match(piped('--log', 'pretty'), /^Ringbook does not start: configuration/, 'asked for: words, without colours')
  await Promise.all(runs)
})
