/**
 * Promise: what the chain client reports is what a contract did, or that the chain could not be asked; nothing that a node does wrong is
 * ever taken for an answer.
 */
import t from 'tap'
import { countersBytes, SIGN_IN, signInCounters } from '../../core/ring/counters.ts'
import { CALL_GAS, createChainClient, type ChainClient } from '../../gateway/chain/client.ts'
import { ACCEPTED, FAULTS, startRpcStub, type RpcStub } from '../support/rpc_stub.ts'

const ADDRESS = `0x${'12'.repeat(20)}`
/** Faults that only time ends. */
const ENDLESS = ['silent', 'drip']
/** Time no test waits for. */
const patient = (): AbortSignal => AbortSignal.timeout(60_000)
const unavailable = { name: 'ChainUnavailable' }

interface Setup {
  readonly stub: RpcStub
  readonly client: ChainClient
  readonly counters: Float64Array
  time: number
}

async function setup(t: { teardown(end: () => Promise<void>): void }): Promise<Setup> {
  const stub = await startRpcStub()
  t.teardown(() => stub.close())
  const counters = signInCounters(new SharedArrayBuffer(countersBytes(1)))
  const clock = { time: 1_000_000 }
  const client = createChainClient(1328, counters, () => clock.time)
  client.move(stub.url)
  return Object.assign(clock, { stub, client, counters })
}

t.test('code and calls are answered, the chain is checked once a minute', async (t) => {
  const setting = await setup(t)
  const { stub, client, counters } = setting
  t.equal(await client.code(ADDRESS, patient()), '0x6000')
  t.equal(await client.call(ADDRESS, '0x01', CALL_GAS, patient()), ACCEPTED)
  t.same(stub.asked, ['eth_chainId', 'eth_getCode', 'eth_call'])
  setting.time += 59_999
  await client.code(ADDRESS, patient())
  t.equal(stub.asked.length, 4)
  setting.time += 1
  await client.code(ADDRESS, patient())
  t.same(stub.asked.slice(4), ['eth_chainId', 'eth_getCode'])
  stub.said = { result: '0xABCD' }
  t.equal(await client.call(ADDRESS, '0x', CALL_GAS, patient()), '0xabcd', 'in lower case')
  client.move(stub.url)
  await client.code(ADDRESS, patient())
  t.equal(stub.asked.at(-2), 'eth_chainId', 'and again after a move')
  t.equal(counters[SIGN_IN.chain_calls], stub.asked.length)
  t.equal(counters[SIGN_IN.chain_failures], 0)
  t.ok(counters[SIGN_IN.chain_seconds]! > 0)
  t.ok(CALL_GAS > 0)
})

for (const fault of FAULTS) {
  t.test(`${fault}: no answer, and the next question is a new one`, async (t) => {
    const { stub, client, counters } = await setup(t)
    const signal = (): AbortSignal => (ENDLESS.includes(fault) ? AbortSignal.timeout(40) : patient())
    stub.fault = fault
    await t.rejects(client.code(ADDRESS, signal()), unavailable, 'of the chain id')
    t.ok(counters[SIGN_IN.chain_failures]! > 0)
    stub.fault = 'good'
    await client.code(ADDRESS, patient())
    if (fault === 'wrong chain' || fault === 'no chain id') return
    stub.fault = fault
    await t.rejects(client.code(ADDRESS, signal()), unavailable, 'of the code')
    await t.rejects(client.call(ADDRESS, '0x', CALL_GAS, signal()), unavailable, 'of a call')
    stub.fault = 'good'
    t.equal(await client.call(ADDRESS, '0x', CALL_GAS, patient()), ACCEPTED)
  })
}

t.test('nobody listening, and nowhere to ask', async (t) => {
  const { stub, client } = await setup(t)
  client.move(null)
  await t.rejects(client.code(ADDRESS, patient()), unavailable)
  t.same(stub.asked, [])
  client.move(stub.url)
  await stub.close()
  await t.rejects(client.code(ADDRESS, patient()), unavailable)
})

t.test('an answer that is given up is no answer', async (t) => {
  const { stub, client } = await setup(t)
  stub.holding = true
  const given = new AbortController()
  const asked = client.code(ADDRESS, given.signal)
  given.abort()
  await t.rejects(asked, unavailable)
  await t.rejects(client.code(ADDRESS, AbortSignal.abort()), unavailable)
})

t.test('exceptions of a contract are answers; what else a node calls an error is none', async (t) => {
  const { stub, client } = await setup(t)
  const contract: [number, string][] = [
    [3, 'execution reverted'], [3, 'anything'], [-32015, 'VM execution error.'], [-32000, 'execution reverted: not today'],
    [-32000, 'Execution reverted'], [-32000, 'out of gas'], [-32000, 'invalid opcode: INVALID'], [-32000, 'invalid jump destination'],
    [-32000, 'stack underflow (0 <=> 1)'], [-32000, 'stack limit reached 1024 (1023)'], [-32000, 'gas uint64 overflow'],
    [-32000, 'write protection'], [-32000, 'return data out of bounds'], [-32000, 'EVM error: OutOfGas'], [-32000, 'invalid JUMP'],
    [-32000, 'revert'],
  ]
  for (const [code, message] of contract) {
    stub.said = { error: { code, message } }
    t.equal(await client.call(ADDRESS, '0x', CALL_GAS, patient()), null, message)
  }
  const node: [number, string][] = [
    [-32000, 'header not found'], [-32000, 'execution took too long'], [-32000, 'execution aborted (timeout = 5s)'], [-32000, ''],
    [-32000, 'missing trie node: out of gas'], [-32000, 'reverted to an older version'], [-32602, 'out of gas'], [-32601, 'no method'],
    [-32002, 'the chain is not available'], [429, 'execution reverted'], [-32000, 'insufficient funds for gas * price + value'],
  ]
  for (const [code, message] of node) {
    stub.said = { error: { code, message } }
    await t.rejects(client.call(ADDRESS, '0x', CALL_GAS, patient()), unavailable, `${code} ${message}`)
  }
})
