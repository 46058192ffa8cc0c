/**
 * Promise: the threads of the vault are started again whenever they end, each with ports to those that run then; nothing of the exchange
 * ends with them, and an orderly stop ends both.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startVault, type VaultParts, type VaultPorts, type VaultThread } from '../../core/supervisor/vault_thread.ts'
import { removeDirectory } from '../support/exchange.ts'
import { until } from '../support/money.ts'

t.setTimeout(300_000)

/** Tells the operator's port what it hears, asks the signer who it is, and ends when told to. */
const VAULT = `
  import { parentPort, workerData } from 'node:worker_threads'
  const { operator, url } = workerData
  let signer
  const ask = (port) => {
    signer = port
    signer.on('message', (name) => operator.postMessage({ signer: name }))
    signer.postMessage('who')
  }
  operator.postMessage({ url })
  ask(workerData.signer)
  operator.on('message', (word) => {
    if (word === 'end signer') signer.postMessage('end')
    if (word === 'throw') throw new Error('a fault')
    if (word === 'fatal') parentPort.postMessage({ type: 'fatal', code: 0, message: 'it cannot go on' })
  })
  parentPort.on('message', (message) => {
    if (message.type === 'stop') process.exit()
    if (message.type === 'signer') ask(message.port)
    if (message.type === 'chain') operator.postMessage({ url: message.url })
  })
  parentPort.postMessage({ type: 'ready' })
`
const SIGNER = `
  import { parentPort, threadId, workerData } from 'node:worker_threads'
  parentPort.on('message', (message) => {
    if (message.type === 'stop') process.exit()
    if (message.type !== 'port') return
    message.port.on('message', (word) => {
      if (word === 'end') process.exit(3)
      message.port.postMessage(workerData.place.path + ' ' + threadId)
    })
  })
  parentPort.postMessage({ type: 'ready' })
`

interface Running {
  readonly vault: VaultThread
  /** Ports of each life of the vault thread. */
  readonly lives: VaultPorts[]
  /** What the vault thread said to the operator, in all lives. */
  readonly said: { signer?: string; url?: string | null }[]
  readonly ended: string[]
}

function start(t: Test): Running {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-vault-'))
  const paths = { vault: join(directory, 'vault.mjs'), signer: join(directory, 'signer.mjs') }
  writeFileSync(paths.vault, VAULT)
  writeFileSync(paths.signer, SIGNER)
  const running: Omit<Running, 'vault'> = { lives: [], said: [], ended: [] }
  const parts = {
    paths, place: { kind: 'file', path: 'key', make: false }, data: {}, gateways: 3, history: true, url: 'http://one',
  } as unknown as VaultParts
  const vault = startVault(parts, {
    heard: () => undefined,
    ended: (name, reason) => running.ended.push(`${name}: ${reason}`),
    connect: (ports) => {
      running.lives.push(ports)
      ports.operator.on('message', (message: Running['said'][number]) => running.said.push(message))
    },
  })
  t.teardown(async () => {
    await vault.finish()
    removeDirectory(directory)
  })
  return { ...running, vault }
}

const signers = ({ said }: Running): string[] => said.flatMap(({ signer }) => signer ?? [])

t.test('ports to everybody, the signer and the chain', async (t) => {
  const running = start(t)
  await until('the signer', async () => signers(running).length === 1)
  t.match(running.lives, [{ gateways: { length: 3 }, history: Object }])
  t.match(signers(running)[0], /^key /)
  running.vault.moved('http://two')
  running.vault.moved(null)
  await until('the moves', async () => running.said.filter(({ url }) => url !== undefined).length === 3)
  t.same(running.said.flatMap(({ url }) => (url === undefined ? [] : [url])), ['http://one', 'http://two', null])
})

t.test('a vault thread that throws or cannot go on: another one, with other ports and the same signer', async (t) => {
  const running = start(t)
  await until('the signer', async () => signers(running).length === 1)
  running.lives[0]!.operator.postMessage('throw')
  await until('the second life', async () => signers(running).length === 2)
  t.equal(signers(running)[1], signers(running)[0])
  t.match(running.ended[0], /^vault: a fault/)
  running.vault.moved('http://two')
  running.lives[1]!.operator.postMessage('fatal')
  await until('the third life', async () => signers(running).length === 3)
  t.equal(running.said.filter(({ url }) => url !== undefined).at(-1)!.url, 'http://two', 'which knows where the chain is')
  t.ok(running.ended.includes('vault: it cannot go on'))
  t.equal(running.lives.length, 3)
})

t.test('a signer that ends: the vault thread gets a port to the next one', async (t) => {
  const running = start(t)
  await until('the signer', async () => signers(running).length === 1)
  running.lives[0]!.operator.postMessage('end signer')
  await until('the next signer', async () => signers(running).length === 2)
  t.not(signers(running)[1], signers(running)[0])
  t.equal(running.lives.length, 1, 'the vault thread went on')
  t.match(running.ended, ['signer: it ended with 3'])
})

t.test('an orderly stop ends both for good', async (t) => {
  const running = start(t)
  await until('the signer', async () => signers(running).length === 1)
  await running.vault.finish()
  t.same(running.ended, [])
  await running.vault.finish()
  t.equal(running.lives.length, 1)
})
