/**
 * Promise: what a precompiled contract may work in one call is bounded, since nothing can interrupt it: whoever asks for more gets no
 * result, by call and by transaction, and no block; what verifies proofs goes on working. A chain of before with such a
 * block is refused by name
 * instead of being executed for as long as it takes.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import t, { type Test } from 'tap'
import { privateKeyToAccount } from 'viem/accounts'
import { chainRules, openDevnet, TRANSACTION_GAS_LIMIT, type CallRequest } from '../../gateway/chain/devnet.ts'
import { PRECOMPILE_GAS_MAX } from '../../gateway/chain/machine.ts'
import { ChainDamaged, chainPath, openChainStore, type ChainStore } from '../../gateway/chain/store.ts'
import { toBytes, type Hex } from '../../gateway/chain/values.ts'
import { removeDirectory } from '../support/exchange.ts'

const CHAIN_ID = 31_337
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const FROM = `0x${'22'.repeat(20)}` as Hex
const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`

function storeOf(t: Test): ChainStore {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-precompiles-'))
  const store = openChainStore(chainPath(directory), CHAIN_ID, chainRules)
  t.teardown(() => {
    store.close()
    removeDirectory(directory)
  })
  return store
}

const word = (value: bigint | number): string => BigInt(value).toString(16).padStart(64, '0')
/** BLAKE2b's compression with this many rounds, a gas each (EIP-152). */
const blake = (rounds: number): Hex => `0x${rounds.toString(16).padStart(8, '0')}${'00'.repeat(64 + 128 + 16)}01`
/** A pairing of the generators of alt_bn128 (EIP-197), 34,000 gas each. */
const PAIR = [
  1, 2, 0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2n,
  0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6edn,
  0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975bn, 0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daan,
].map(word).join('')
const pairings = (count: number): Hex => `0x${PAIR.repeat(count)}`
/** Of a number of 1,024 bytes to an exponent as long (EIP-198). */
const power = (exponentBytes: number): Hex =>
  `0x${word(1024)}${word(exponentBytes)}${word(1024)}${'ff'.repeat(1024)}${'ff'.repeat(exponentBytes)}${'fd'.repeat(1024)}`

/** So many inputs of this length, of which only the number is looked at before the price is known. */
const inputs = (count: number, bytes: number): Hex => `0x${'00'.repeat(count * bytes)}`
const HEAVY: [name: string, address: number, data: Hex][] = [
  ['pairings', 8, pairings(400)], ['BLAKE2', 9, blake(16_000_000)], ['a power', 5, power(40)],
  ['less BLAKE2', 9, blake(300_001)], ['a sum on G1', 0x0c, inputs(100, 160)], ['a sum on G2', 0x0e, inputs(60, 288)],
  ['pairings of BLS', 0x0f, inputs(20, 384)],
]
const [G1, G2] = [bls12_381.G1.Point.BASE, bls12_381.G2.Point.BASE]
const limbs = (...values: bigint[]): string => values.map((value) => value.toString(16).padStart(128, '0')).join('')
const onG1 = (point = G1): string => limbs(point.toAffine().x, point.toAffine().y)
const onG2 = (point = G2): string => limbs(...[point.toAffine().x, point.toAffine().y].flatMap(({ c0, c1 }) => [c0, c1]))
const FULL = 'ff'.repeat(32)
/** Multiples of a point, each written with a factor of 32 bytes. */
function sum<P extends { add(other: P): P }>(count: number, base: P, write: (point: P) => string): Hex {
  let [text, point] = ['', base]
  for (let i = 0; i < count; i++, point = point.add(base)) text += write(point) + FULL
  return `0x${text}`
}
/** As much as may be asked of those that take longest. */
const WORST: [name: string, address: number, data: Hex][] = [
  ['pairings', 8, pairings(28)], ['BLAKE2', 9, blake(300_000)], ['a sum on G1', 0x0c, sum(40, G1, onG1)],
  ['a sum on G2', 0x0e, sum(32, G2, onG2)], ['pairings of BLS', 0x0f, `0x${(onG1() + onG2()).repeat(14)}`],
]
const LIGHT: [name: string, address: number, data: Hex, result: RegExp][] = [
  ['four pairings', 8, pairings(4), /^0x0{64}$/], ['BLAKE2', 9, blake(12), /^0x[0-9a-f]{128}$/],
  ['a power', 5, power(1), /^0x[0-9a-f]{2048}$/], ['SHA-256', 2, '0x', /^0xe3b0c442/],
]

t.test('heavy work has no result and leaves no block; light work does what it did', async (t) => {
  const devnet = await openDevnet(CHAIN_ID, storeOf(t), () => 1_800_000_000)
  const ask = async (address: number, data: Hex): Promise<string> => {
    const request: CallRequest = { from: FROM, to: addressOf(address), data, value: 0n, gas: TRANSACTION_GAS_LIMIT }
    const { returnValue, exceptionError } = await devnet.call(request, devnet.blocks.at(-1)!, 60_000)
    return exceptionError?.error ?? `0x${Buffer.from(returnValue).toString('hex')}`
  }
  for (const [name, address, data] of HEAVY) {
    await t.rejects(ask(address, data), { name: 'RpcError', message: 'execution took too long' }, name)
    const raw = await sign(address, data)
    await t.rejects(devnet.send(raw), { name: 'RpcError', message: 'execution took too long' }, `${name} by transaction`)
  }
  t.equal(devnet.blocks.length, 1)
  for (const [name, address, data] of WORST) {
    const begun = performance.now()
    t.match(await ask(address, data), /^0x[0-9a-f]+$/, name)
    t.comment(`${name}: ${(performance.now() - begun).toFixed(0)} ms`)
  }
  t.match(await ask(0x0a, inputs(1, 192)), /^(?!0x)/, 'what the library has no code for fails, and nothing else does')
  for (const [name, address, data, result] of LIGHT) t.match(await ask(address, data), result, name)
  t.match(await ask(8, '0x01'), /^(?!0x)/, 'what is no input fails as it did')
  await devnet.send(await sign(9, blake(1_000)))
  t.equal(devnet.blocks.length, 2)
  t.ok(PRECOMPILE_GAS_MAX < TRANSACTION_GAS_LIMIT)
})

t.test('a stored block that is too heavy is refused by name at the start', async (t) => {
  const store = storeOf(t)
  const raw = await sign(9, blake(16_000_000))
  store.append({ number: 1, timestamp: 1_800_000_000, hash: new Uint8Array(32), raw })
  const opened = openDevnet(CHAIN_ID, store, () => 1_800_000_000)
  await t.rejects(opened, new ChainDamaged('the transaction of block 1 cannot be executed: execution took too long'))
})

t.test('what an earlier version took is taken at a start', async (t) => {
  const store = storeOf(t)
  store.append({ number: 1, timestamp: 1_800_000_000, hash: new Uint8Array(32), raw: await sign(9, blake(400_000)) })
  await t.rejects(openDevnet(CHAIN_ID, store, () => 1_800_000_000), new ChainDamaged('block 1 is not the one it was'), 'it was executed')
})

async function sign(address: number, data: Hex): Promise<Uint8Array> {
  return toBytes(await account.signTransaction({
    chainId: CHAIN_ID, type: 'eip1559', nonce: 0, to: addressOf(address), data, gas: TRANSACTION_GAS_LIMIT, maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
  }))
}
