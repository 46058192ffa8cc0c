/**
 * Promise: a contract that accepts is answered while contracts whose code never ends wait for each other, one question of an address and
 * two in all with all the gas; the signature inside a wrapper (ERC-6492) is what a deployed contract is asked about; every rejection has
 * its reason, and what did not answer in time has no verdict.
 */
import t from 'tap'
import { encodeAbiParameters } from 'viem'
import { SIGN_IN, SIGN_IN_COUNTERS } from '../../core/ring/counters.ts'
import { createContractCheck, HEAVY_AT_ONCE, messageHash, type ContractVerdict } from '../../gateway/auth/contract.ts'
import { unwrapped } from '../../gateway/auth/wrapper.ts'
import { CALL_GAS, type CallAnswer, type ChainClient } from '../../gateway/chain/client.ts'
import { ACCEPTED } from '../support/rpc_stub.ts'
import { until } from '../support/until.ts'

const LONG_MS = 60_000
const addressOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`
const task = (n: number, signature = 'ab'.repeat(65)) => ({ address: addressOf(n), message: 'text', signature })

interface Asked {
  readonly address: string
  readonly data: string
  readonly gas: number
  answer(answer: CallAnswer): void
}

/** A chain that answers when the test says so; every address but 0 has code. */
class FakeChain implements ChainClient {
  readonly asked: Asked[] = []
  move(): void {
    // It is everywhere.
  }

  code(address: string): Promise<string> {
    return Promise.resolve(address === addressOf(0) ? '0x' : '0x60')
  }

  call(address: string, data: string, gas: number, signal: AbortSignal): Promise<CallAnswer> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      this.asked.push({ address, data, gas, answer: resolve })
    })
  }

  take(gas: 'light' | 'all', address?: string): Asked | undefined {
    const at = this.asked.findIndex((each) => (each.gas === CALL_GAS) === (gas === 'all') && (address ?? each.address) === each.address)
    return at < 0 ? undefined : this.asked.splice(at, 1)[0]
  }

  count(gas: 'light' | 'all'): number {
    return this.asked.filter((each) => (each.gas === CALL_GAS) === (gas === 'all')).length
  }
}

const start = (most = 64, timeoutMs = LONG_MS) => {
  const chain = new FakeChain()
  const counters = new Float64Array(SIGN_IN_COUNTERS.length)
  return { chain, counters, check: createContractCheck(chain, most, timeoutMs, counters) }
}

/** Answers the questions of one check as they come. */
async function verdictOf(answers: CallAnswer[], n = 1, signature?: string): Promise<ContractVerdict> {
  const { chain, check } = start()
  const verdict = check.verify(task(n, signature), 'a')
  let over = false
  void verdict.finally(() => (over = true))
  while (!over) {
    chain.asked.shift()?.answer(answers.shift() ?? null)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return verdict
}

t.test('twelve endless contracts keep an honest one waiting for nobody’s gas', async (t) => {
  const { chain, check, counters } = start()
  const endless = Array.from({ length: 12 }, (_, i) => check.verify(task(i + 1), `network ${i % 4}`))
  t.ok(await until(() => chain.count('light') === 12))
  for (let i = 0; i < 12; i++) chain.take('light')!.answer(null)
  t.ok(await until(() => chain.count('all') === HEAVY_AT_ONCE))
  const honest = check.verify(task(99), 'network 1')
  t.ok(await until(() => chain.count('light') === 1))
  t.equal(chain.count('all'), HEAVY_AT_ONCE, 'no more of them are asked')
  chain.take('light')!.answer(ACCEPTED)
  t.equal(await honest, 'signed', 'while all of them are under way')
  for (let done = 0; done < 12; done++) {
    t.ok(await until(() => chain.count('all') > 0))
    if (chain.count('all') > HEAVY_AT_ONCE) t.fail('more at once than there may be')
    chain.take('all')!.answer(null)
  }
  t.same([...new Set(await Promise.all(endless))], ['CONTRACT_REVERTED'])
  t.same([counters[SIGN_IN.contract_signed], counters[SIGN_IN.contract_rejected]], [1, 12])
})

t.test('an address has one question with all the gas, so that another comes between', async (t) => {
  const { chain, check } = start()
  const mine = Array.from({ length: 4 }, () => check.verify(task(1), 'a'))
  t.ok(await until(() => chain.count('light') === 4))
  for (let i = 0; i < 4; i++) chain.take('light')!.answer(null)
  t.ok(await until(() => chain.count('all') === 1))
  const other = check.verify(task(2), 'a')
  t.ok(await until(() => chain.count('light') === 1))
  chain.take('light')!.answer(null)
  t.ok(await until(() => chain.count('all') === 2))
  chain.take('all', addressOf(2))!.answer(ACCEPTED)
  t.equal(await other, 'signed', 'who needs more gas is asked again')
  for (let i = 0; i < 4; i++) {
    t.ok(await until(() => chain.count('all') === 1))
    chain.take('all')!.answer(null)
  }
  t.same(await Promise.all(mine), Array(4).fill('CONTRACT_REVERTED'))
})

t.test('what does not come in time has no verdict, whether it was asked or waits', async (t) => {
  const { chain, check, counters } = start(64, 200)
  // The time of a question keeps no process.
  const alive = setInterval(() => undefined, 50)
  t.teardown(() => clearInterval(alive))
  const verdicts = [1, 2, 3, 4].map((n) => check.verify(task(n), 'a'))
  t.ok(await until(() => chain.take('light')?.answer(null) === undefined && chain.count('light') === 0 && chain.count('all') > 0))
  t.same(await Promise.all(verdicts), Array(4).fill('late'))
  t.equal(counters[SIGN_IN.contract_unavailable], 4)
  t.equal(counters[SIGN_IN.contract_checks], 0)
})

const inner = 'cd'.repeat(70)
const wrapper = (signature: string): string => {
  const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }]
  return `${encodeAbiParameters(types, [addressOf(7), '0x1234', `0x${signature}`]).slice(2)}${'6492'.repeat(16)}`
}

t.test('reasons', async (t) => {
  t.equal(await verdictOf([], 0), 'NO_CODE')
  t.equal(await verdictOf([], 0, wrapper(inner)), 'NOT_DEPLOYED')
  t.equal(await verdictOf([null, null]), 'CONTRACT_REVERTED')
  t.equal(await verdictOf(['0x', `0x${'ff'.repeat(32)}`]), 'WRONG_SIGNER')
  t.equal(await verdictOf(['0x', ACCEPTED]), 'signed', 'with little gas it said something else')
  t.equal(await verdictOf([ACCEPTED]), 'signed')
})

t.test('a wrapper', async (t) => {
  const { chain, check } = start()
  const verdict = check.verify(task(1, wrapper(inner)), 'a')
  t.ok(await until(() => chain.asked.length === 1))
  const [asked] = chain.asked
  t.ok(asked!.data.includes(messageHash('text')))
  t.ok(asked!.data.includes(inner) && !asked!.data.includes('6492'.repeat(16)), 'the contract is given what is inside')
  asked!.answer(ACCEPTED)
  t.equal(await verdict, 'signed')
  t.equal(unwrapped(wrapper(inner)), inner)
  const word = (n: number): string => n.toString(16).padStart(64, '0')
  const head = word(7) + word(96)
  const bad: Record<string, string> = {
    'no magic': inner, 'magic alone': '6492'.repeat(16), 'no signature': wrapper(''), 'an offset beyond': head + word(1e6) + word(0),
    'a huge offset': head + 'f'.repeat(64) + word(0), 'a length beyond': head + word(96) + word(1_000),
    'a huge length': head + word(96) + 'f'.repeat(64),
  }
  for (const [what, body] of Object.entries(bad)) t.equal(unwrapped(what === 'no magic' ? body : `${body}${'6492'.repeat(16)}`), null, what)
})
