/**
 * Promise: an exchange is started from its parts, in whatever process has them: importing it starts nothing, it trades when it says that
 * it is ready, an orderly stop ends with code 0 and lets go of the directory, and what is left is what the next one goes on with.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readConfig } from '../../core/config.ts'
import { lockDirectory } from '../../core/data_dir.ts'
import { startExchange, type Exchange } from '../../core/exchange/exchange.ts'
import { createLogger } from '../../core/lib/log.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384'
const root = temporaryDirectory()
t.teardown(() => removeDirectory(root))
const dataDir = join(root, 'exchange')
mkdirSync(dataDir, { mode: 0o700 })
const ARGUMENTS = [
  '--data-dir', dataDir, '--host', '127.0.0.1', '--port', '0', '--operator-port', '0', '--grpc-port', '0',
  '--gateways', '1', '--chain', '0',
  '--log-level', 'error',
]

interface Life {
  readonly exchange: Exchange
  readonly announced: number[]
  /** The code it ends with. */
  readonly ended: Promise<number>
  readonly ask: (cause: string) => void
}

async function start(): Promise<Life> {
  const config = readConfig(ARGUMENTS, {})!
  const [ended, asked] = [Promise.withResolvers<number>(), Promise.withResolvers<string>()]
  const announced: number[] = []
  const exchange = startExchange({
    config, log: createLogger(config.logLevel), lock: await lockDirectory(dataDir), environment: {}, stopAsked: asked.promise,
    announceExit: (code) => announced.push(code), exit: ended.resolve,
  })
  return { exchange, announced, ended: ended.promise, ask: asked.resolve }
}

async function answers(t: Test, port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/pairs`)
  t.not(answer.status, 503)
  t.ok(answer.status < 500, `it answers, with ${answer.status}`)
  await answer.arrayBuffer()
}

t.test('it trades, stops when it is asked to, and another one goes on', async (t) => {
  for (const round of [1, 2]) {
    const { exchange, ended, ask, announced } = await start()
    const { port, operatorPort } = await exchange.ready
    t.ok(operatorPort! > 0 && operatorPort !== port)
    await answers(t, port)
    ask('the test')
    t.equal(await ended, 0, `round ${round} ends in order`)
    t.same(announced, [])
  }
})

t.test('what broke is said ahead and ends it with its code', async (t) => {
  const { exchange, ended, announced } = await start()
  await exchange.ready
  await exchange.fail(6, 'planted')
  t.equal(await ended, 6)
  t.same(announced, [6])
  // Its threads and its lock are left as they are: the process ends with them.
  setImmediate(() => process.exit())
})
