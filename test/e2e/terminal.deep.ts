/**
 * Promise: an exchange that is started on a terminal greets with addresses that answer, says whether it is new or goes
 * on, and Ctrl-C stops it in order.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { noTerminal, onTerminal } from '../support/pseudo_terminal.ts'

t.setTimeout(600_000)
const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const SUPERVISOR = join(import.meta.dirname, '..', '..', 'core', 'supervisor', 'main.ts')
const MAIN = ['--disable-warning=ExperimentalWarning', SUPERVISOR]
const PORTS = ['--port', '--grpc-port', '--operator-port', '--chain-port'].flatMap((name) => [name, '0'])
const { NODE_OPTIONS: _, ...environment } = process.env

async function session(t: Test, begun: RegExp): Promise<void> {
  const words = [process.execPath, ...MAIN, '--data-dir', directory, ...PORTS, '--gateways', '1']
  const run = onTerminal(words, { ...environment, NO_COLOR: '1' })
  t.teardown(() => run.kill())
  const over = run.ended.then(() => true)
  while (!run.output().includes('Ctrl-C stops')) {
    if (await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 50, false))])) break
  }
  const greeting = run.output()
  t.match(greeting, begun)
  t.match(greeting, /^Ringbook starts on .*^Ringbook is open: .*^ {2}Data +\//ms)
  t.notMatch(greeting, /\u001b|"level"/, 'neither colours nor JSON')
  const [docs] = /http:\S+\/docs/.exec(greeting) ?? []
  const [, operator] = /Operator +(\S+)/.exec(greeting) ?? []
  t.equal((await fetch(docs!)).status, 200, 'docs')
  t.match(await (await fetch(`${operator}/ready`)).json(), { ready: true })
  run.type('\x03')
  t.equal(await run.ended, 0)
  t.match(run.output(), /Stopping \(SIGINT\) \.\.\.\r\n(.*\r\n)*Stopped at sequence \d+\. Everything .* is on disk\./)
}

t.test('a new exchange, and the same once more', { skip: noTerminal() }, async (t) => {
  await session(t, /is open: a new exchange, ready in \d+\.\d s/)
  await session(t, /is open: resumed at sequence \d+, ready in \d+\.\d s/)
})
